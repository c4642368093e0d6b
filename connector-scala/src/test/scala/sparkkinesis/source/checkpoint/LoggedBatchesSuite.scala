package sparkkinesis.source.checkpoint

import java.time.Instant

import scala.collection.immutable.{SortedMap, SortedSet}

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators.{arn, only, shardId}
import sparkkinesis.model.SequenceNumber
import sparkkinesis.model.offset.{Progress, ShardProgress, SourceOffset, StreamOffset}
import sparkkinesis.shard.SourceException

class LoggedBatchesSuite extends AnyFunSuite {
  private def offset(number: Int): SourceOffset = only(
    StreamOffset(
      arn,
      Instant.EPOCH,
      SortedMap(
        shardId(0) -> ShardProgress(Progress.After(SequenceNumber(s"$number")), Set.empty)
      )
    )
  )

  private val own = OffsetCodec.encode(offset(1))
  private val kafka = """{"orders":{"0":1}}"""

  private def parse(lines: String*) = LoggedOffsets.parse("/c", "offsets/7", lines.mkString("\n"))

  private def refused(action: => Any): (String, String) = {
    val e = intercept[SourceException](action)
    e.condition -> e.getMessage
  }

  test("the sources of the first format have numbers") {
    val logged = parse("v1", "{}", kafka, "-", own)
    assert(logged.sources === Seq("0" -> Some(kafka), "1" -> None, "2" -> Some(own)))
    assert(logged.own === Seq("2"))
    assert(logged.of("2").contains(offset(1)) && logged.of("1").isEmpty && logged.of("9").isEmpty)
  }

  test("the sources of the second format have names") {
    val logged = parse("v2", """{"batchWatermarkMs":0}""", s"orders:$own", "1:-")
    assert(logged.own === Seq("orders") && logged.of("orders").contains(offset(1)))
    assert(logged.sources.map(_._1) === Seq("orders", "1"))
  }

  test("a file that is incomplete, newer or no offset log is refused, and the error names it") {
    Seq(
      Seq.empty -> "is incomplete",
      Seq("v1") -> "is incomplete",
      Seq("hello", "", own) -> "is incomplete",
      Seq("v2", "", "orders") -> "has a line without the name of a source",
      Seq("v3", "", own) -> "has version 'v3'"
    ).foreach { case (lines, reason) =>
      val (condition, message) = refused(parse(lines: _*))
      assert(condition === "KINESIS_CHECKPOINT_UNREADABLE")
      assert(message.contains(s"/c cannot be read: its file offsets/7 $reason"), message)
    }
  }

  test("the source of a newer release is recognized, and its offset is refused") {
    val logged = parse("v1", "{}", own.replace("\"version\":1", "\"version\":99"))
    assert(logged.own === Seq("0"))
    assert(refused(logged.of("0"))._1 === "KINESIS_OFFSET_TOO_NEW")
  }

  private def batches(numbers: Long*) = LoggedBatches("/c", SortedSet(numbers: _*))

  private def check(logged: LoggedBatches, wanted: Long*) = logged.check(SortedSet(wanted: _*))

  test("a batch can be replayed if its end and its start are logged") {
    check(batches(0, 1, 2), 0, 1, 2)
    check(batches(20, 21, 22), 21, 22)
    Seq[(LoggedBatches, Seq[Long], String)](
      (batches(20, 21, 22), Seq(20, 21), "batch 20 read: its offset log lacks"),
      (batches(20, 21, 22), Seq(3, 4, 5), "batch 3 to 5 read: its offset log lacks"),
      (batches(20, 22), Seq(21), "batch 21 read: its offset log lacks"),
      (batches(20, 21, 22), Seq(22, 23), "batch 23 read: the last batch in its offset log is 22"),
      (
        batches(),
        Seq(0),
        "batch 0 read: its offset log is empty. Batches that can be replayed: none"
      )
    ).foreach { case (logged, wanted, text) =>
      val (condition, message) = refused(check(logged, wanted: _*))
      assert(condition === "KINESIS_BATCH_NOT_LOGGED")
      assert(message.contains(text), message)
    }
    val (_, message) = refused(check(batches(0, 1, 5, 6, 7), 3))
    assert(message.contains("Batches that can be replayed: 0 to 1, 6 to 7."), message)
  }

  private def source(wanted: Option[String], lines: String*) =
    LoggedBatches.source("/c", Seq(parse("v1" +: "{}" +: lines: _*)), wanted)

  test("the only source of this connector is replayed, or the one that the options name") {
    assert(source(None, kafka, own) === "1")
    assert(source(Some("0"), own, own) === "0")
    assert(
      LoggedBatches.source("/c", Seq(parse("v1", "{}", "-"), parse("v1", "{}", own)), None) === "0"
    )
  }

  test("a checkpoint without such a source is refused, and so is an ambiguous one") {
    Seq(
      refused(source(None, kafka)) -> "sources '0'. Sources of this connector: none. Only batches",
      refused(source(None, own, kafka, own)) -> "connector: '0', '2'. Set 'replaySource' to the",
      refused(source(Some("1"), own, kafka)) -> "connector: '0'. Option 'replaySource' is '1'. Set"
    ).foreach { case ((condition, message), text) =>
      assert(condition === "KINESIS_REPLAY_SOURCE")
      assert(message.contains(text), message)
    }
  }
}
