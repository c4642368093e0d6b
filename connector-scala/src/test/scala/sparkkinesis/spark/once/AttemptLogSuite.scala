package sparkkinesis.spark.once

import java.nio.file.{Files, Path => LocalPath}
import java.time.Instant

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.TemporaryFolders

/** What the files beside a checkpoint tell about attempts. */
class AttemptLogSuite extends AnyFunSuite with TemporaryFolders {
  private val at = Instant.parse("2026-11-22T12:00:00Z")
  private val later = at.plusSeconds(60)

  private class Checkpoint {
    val folder: LocalPath = newFolder()
    Files.createDirectory(folder.resolve("offsets"))

    def plan(batch: Long, offsets: String): Unit = {
      Files.writeString(folder.resolve(s"offsets/$batch"), offsets)
      ()
    }

    /** The log as a driver sees it. */
    def log = new AttemptLog(new Path(folder.toString), new Configuration)

    plan(1, "one")
    plan(2, "two")
  }

  test("a batch that begins again keeps its incarnation and the time of its first attempt") {
    val checkpoint = new Checkpoint
    val first = checkpoint.log.begin(1, "stream", at)
    val again = checkpoint.log.begin(1, "stream", later)
    assert(first.run === 0 && again.run === 1)
    assert(again.incarnation === first.incarnation && again.since === at)
    assert(!checkpoint.log.isNewest(first) && checkpoint.log.isNewest(again))
  }

  test("the next batch is a first attempt with an incarnation of its own") {
    val checkpoint = new Checkpoint
    val first = checkpoint.log.begin(1, "stream", at)
    val next = checkpoint.log.begin(2, "stream", later)
    assert(next.run === 0 && next.since === later)
    assert(next.incarnation !== first.incarnation)
  }

  test("a rewound checkpoint is a new incarnation") {
    val checkpoint = new Checkpoint
    val first = checkpoint.log.begin(1, "stream", at)
    checkpoint.plan(1, "planned again, at another time")
    val planned = checkpoint.log.begin(1, "stream", later)
    checkpoint.log.begin(2, "stream", later)
    val rewound = checkpoint.log.begin(1, "stream", later)
    assert(planned.run === 0 && rewound.run === 0)
    assert(Set(first, planned, rewound).map(_.incarnation).size === 3)
  }

  test("another stream and a copied folder are new incarnations") {
    val (checkpoint, copy) = (new Checkpoint, new Checkpoint)
    val first = checkpoint.log.begin(1, "stream", at)
    Files.createDirectory(copy.folder.resolve("spark-kinesis-sink"))
    val name = "spark-kinesis-sink/000000000001"
    Files.copy(checkpoint.folder.resolve(name), copy.folder.resolve(name))
    val copied = copy.log.begin(1, "stream", later)
    val other = checkpoint.log.begin(1, "other", later)
    assert(copied.run === 0 && other.run === 0)
    assert(Set(first, copied, other).map(_.incarnation).size === 3)
  }

  test("an incomplete file is an attempt that wrote nothing") {
    val checkpoint = new Checkpoint
    val first = checkpoint.log.begin(1, "stream", at)
    val torn = checkpoint.folder.resolve("spark-kinesis-sink/000000000002")
    Files.writeString(torn, first.text.take(40))
    val again = checkpoint.log.begin(1, "stream", later)
    assert(again.number === 3 && again.run === 1 && again.incarnation === first.incarnation)
  }

  test("two drivers that write one file are not both the newest") {
    val checkpoint = new Checkpoint
    val mine = checkpoint.log.begin(1, "stream", at)
    val file = checkpoint.folder.resolve("spark-kinesis-sink/000000000001")
    Files.writeString(file, mine.copy(owner = "other").text)
    Files.deleteIfExists(file.resolveSibling(".000000000001.crc"))
    assert(!checkpoint.log.isNewest(mine))
  }

  test("old files are deleted") {
    val checkpoint = new Checkpoint
    (1 to 30).foreach(_ => checkpoint.log.begin(1, "stream", at))
    val names =
      checkpoint.folder.resolve("spark-kinesis-sink").toFile.list.filterNot(_.startsWith("."))
    assert(names.length === 11)
  }
}
