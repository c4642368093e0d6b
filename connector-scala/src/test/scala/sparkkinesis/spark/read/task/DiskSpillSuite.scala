package sparkkinesis.spark.read.task

import java.nio.file.{Files, Path}
import java.time.Instant

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.SparkEnv

import sparkkinesis.Generators.record
import sparkkinesis.client.Clock
import sparkkinesis.model.PackedRecords
import sparkkinesis.source.store.PageBytes
import sparkkinesis.spark.{LocalSpark, LogTap}

/** Pages in the local directories of a real Spark. */
class DiskSpillSuite extends AnyFunSuite with LocalSpark {
  private val folder = newFolder()

  override protected def settings: Map[String, String] = Map("spark.local.dir" -> folder.toString)

  protected val isPlain: Boolean = true
  protected val text = "a text that a file contains"

  private final class ManualClock extends Clock {
    var now: Instant = Instant.EPOCH
    override def sleep(duration: FiniteDuration): Unit = now = now.plusMillis(duration.toMillis)
  }

  protected val page: PackedRecords =
    PackedRecords(Vector(record(7, 1 << 20), record(8, 0).copy(data = text.getBytes)))

  private def files: Seq[Path] =
    Files.walk(folder).iterator.asScala.filter(_.getFileName.toString.startsWith("input-")).toSeq

  test("a page is written to a file, read as often as wanted, and removed") {
    val spill = new DiskSpill(new ManualClock, _.run())
    val id = spill.write(PageBytes.of(page)).get
    assert(files.size === 1)
    assert(new String(Files.readAllBytes(files.head), "ISO-8859-1").contains(text) === isPlain)
    assert(spill.read(id).flatMap(_.records) === Some(page))
    assert(spill.read(id).flatMap(_.records) === Some(page))
    spill.remove(id)
    assert(files.isEmpty && spill.read(id) === None && spill.isOpen)
  }

  test("the driver does not learn of the blocks, and no lock stays") {
    val spill = new DiskSpill(new ManualClock, _.run())
    val ids = Seq.fill(3)(spill.write(PageBytes.of(page)).get)
    ids.foreach(spill.read)
    val used = SparkEnv.get.blockManager.master.getStorageStatus.map(_.diskUsed).sum
    assert(used === 0)
    ids.foreach(spill.remove) // would wait for a lock
    assert(files.isEmpty)
  }

  test("a lost or shortened file is a page that cannot be read, which is logged once") {
    val spill = new DiskSpill(new ManualClock, _.run())
    val warnings = LogTap.of(classOf[DiskSpill]) {
      val (lost, short) = (spill.write(PageBytes.of(page)).get, spill.write(PageBytes.of(page)).get)
      val byName = files.sortBy(_.getFileName.toString)
      Files.delete(byName.head)
      val bytes = Files.readAllBytes(byName(1))
      Files.write(byName(1), bytes.take(bytes.length / 2))
      assert(spill.read(lost).isEmpty)
      assert(spill.read(short).flatMap(_.records).isEmpty && spill.isOpen)
      Seq(lost, short).foreach(spill.remove)
    }
    assert(warnings.map(_.getMessage.getFormattedMessage).count(_.contains("cannot be read")) === 1)
  }

  test("a folder that cannot be written to is no failure: for a while nothing is written") {
    val clock = new ManualClock
    val spill = new DiskSpill(clock, _.run())
    val blocked =
      Files
        .list(folder)
        .iterator
        .asScala
        .filter(_.getFileName.toString.startsWith("blockmgr-"))
        .toSeq
    val away = blocked.map(dir => dir -> dir.resolveSibling(s"${dir.getFileName}-away"))
    away.foreach { case (dir, elsewhere) => Files.move(dir, elsewhere) }
    try {
      val warnings = LogTap.of(classOf[DiskSpill]) {
        (1 to 3).foreach(_ => assert(spill.write(PageBytes.of(page)) === None && !spill.isOpen))
      }
      val texts = warnings.map(_.getMessage.getFormattedMessage)
      assert(texts.size === 1 && texts.head.contains("'fetchSpillSize'"))
    } finally away.foreach { case (dir, elsewhere) => Files.move(elsewhere, dir) }
    clock.sleep(10.seconds)
    assert(spill.isOpen)
  }
}

/** Spark's encryption covers the pages. */
class EncryptedDiskSpillSuite extends DiskSpillSuite {
  override protected def settings: Map[String, String] =
    super.settings + ("spark.io.encryption.enabled" -> "true")
  override protected val isPlain: Boolean = false
}
