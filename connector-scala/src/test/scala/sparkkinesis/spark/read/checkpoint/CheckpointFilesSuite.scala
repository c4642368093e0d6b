package sparkkinesis.spark.read.checkpoint

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.time.Instant

import scala.collection.immutable.{SortedMap, SortedSet}

import org.apache.hadoop.conf.Configuration
import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators.{arn, only, shardId}
import sparkkinesis.TemporaryFolders
import sparkkinesis.model.SequenceNumber
import sparkkinesis.model.offset.{Progress, ShardProgress, StreamOffset}
import sparkkinesis.shard.SourceException
import sparkkinesis.source.checkpoint.{LoggedOffsets, OffsetCodec}

class CheckpointFilesSuite extends AnyFunSuite with TemporaryFolders {
  private val offset = only(
    StreamOffset(
      arn,
      Instant.EPOCH,
      SortedMap(shardId(0) -> ShardProgress(Progress.TrimHorizon, Set.empty))
    )
  )

  private def write(folder: Path, name: String, text: String): Unit = {
    val file = folder.resolve(name)
    Files.createDirectories(file.getParent)
    Files.write(file, text.getBytes(UTF_8)): Unit
  }

  private def files(folder: Path) = new CheckpointFiles(folder.toString, new Configuration(false))

  private def refused(action: => Any): String = {
    val e = intercept[SourceException](action)
    assert(e.condition === "KINESIS_CHECKPOINT_UNREADABLE")
    e.getMessage
  }

  test("the batches are the files with a number as their name") {
    val folder = newFolder()
    Seq("9", "10", ".10.crc", ".11.b6.tmp", "11.tmp", "10_8080.crc", "x").foreach { name =>
      write(folder, s"offsets/$name", s"v1\n{}\n${OffsetCodec.encode(offset)}")
    }
    Files.delete(folder.resolve("offsets/.10.crc")) // it would not match the file
    write(folder, "commits/9", "v1\n{}")
    write(folder, "sources/0/initial-offset.json", OffsetCodec.encode(offset))
    val read = files(folder)
    assert(read.logged().logged === SortedSet(9L, 10L))
    assert(read.committed() === SortedSet(9L))
    assert(read.offsets(10).of("0").contains(offset))
    assert(read.initial("0") === offset)
  }

  test("the end of a batch is kept when the query is moved after it") {
    val folder = newFolder()
    def log(file: String, sequence: Int): Unit = {
      val progress = Progress.After(SequenceNumber(sequence.toString))
      val shards = SortedMap(shardId(0) -> ShardProgress(progress, Set.empty))
      val at = only(StreamOffset(arn, Instant.EPOCH, shards))
      write(folder, file, s"v1\n{}\n${OffsetCodec.encode(at)}")
    }
    def sequence(offsets: LoggedOffsets) =
      offsets.of("0").map(_.progress.values.head.toString).getOrElse("")
    log("offsets/0", 10)
    log("offsets/1", 5)
    log("rewinds/20260102T030405.000006Z/offsets/1", 20)
    log("rewinds/20260103T030405.000006Z/offsets/1", 7)
    log("rewinds/20260103T030405.000006Z/dropped/2", 30)
    log("offsets/2", 40)
    val read = files(folder)
    assert((0L to 2L).map(batch => sequence(read.end(batch))) === Seq("10", "20", "40").map(after))
    assert(
      (0L to 2L).map(batch => sequence(read.offsets(batch))) === Seq("10", "5", "40").map(after)
    )
  }

  private def after(sequence: String) = Progress.After(SequenceNumber(sequence)).toString

  test("what is missing is named, with the folder as the user wrote it") {
    val folder = newFolder()
    assert(
      refused(files(folder).logged())
        .contains(s"$folder cannot be read: it has no folder 'offsets'")
    )
    write(folder, "offsets/0", "v1\n{}\n-")
    assert(files(folder).committed().isEmpty)
    assert(
      refused(files(folder).initial("3")).contains("lacks the file sources/3/initial-offset.json")
    )
    assert(refused(files(folder).offsets(1)).contains("its file offsets/1 was deleted just now"))
  }
}
