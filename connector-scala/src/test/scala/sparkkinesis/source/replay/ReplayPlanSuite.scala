package sparkkinesis.source.replay

import java.nio.charset.StandardCharsets.UTF_8
import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators.{arn, only, shardId, shardOf}
import sparkkinesis.model.offset.{Progress, ShardProgress, SourceOffset, StreamOffset}
import sparkkinesis.model.{PackedRecords, Record, SequenceNumber}
import sparkkinesis.source.SourceException

class ReplayPlanSuite extends AnyFunSuite {
  private val noon = Instant.parse("2026-11-23T12:00:00Z")

  /** @param shards number of each shard, and its progress */
  private def offset(shards: (Int, Progress)*): SourceOffset =
    only(
      StreamOffset(
        arn,
        Instant.EPOCH,
        SortedMap(shards.map { case (shard, progress) =>
          shardId(shard) -> ShardProgress(progress, Set.empty, completeAs(progress))
        }: _*)
      )
    )

  /** Record `n` arrived n minutes before noon, so that a smaller number is later. */
  private def completeAs(progress: Progress): Option[Instant] = progress match {
    case Progress.After(number) => Some(noon.minusSeconds(60 * (1000 - number.text.toLong)))
    case _ => None
  }

  private def after(number: Int): Progress = Progress.After(SequenceNumber(s"$number"))

  private val offsets = Vector(
    offset(0 -> Progress.TrimHorizon, 1 -> after(5)),
    offset(0 -> after(10), 1 -> after(5)),
    offset(0 -> after(20), 1 -> after(7)),
    offset(0 -> after(30), 1 -> after(7)),
    offset(0 -> after(30), 1 -> Progress.Finished)
  )

  private def plan(numbers: Int*) =
    ReplayPlan.of(numbers.map(n => LoggedBatch(n.toLong, offsets(n), offsets(n + 1))))

  private def texts(ranges: Seq[ReplayRange]) = ranges.map { it =>
    (it.range.shard, it.range.from, it.range.upTo, it.ends.map(_.batch))
  }

  test("consecutive batches of a shard are one range, also if the shard had no records in one") {
    assert(
      texts(plan(0, 1, 2, 3)) === Seq(
        (shardOf(0), Progress.TrimHorizon, after(30), Vector(0, 1, 2)),
        (shardOf(1), after(5), Progress.Finished, Vector(1, 3))
      )
    )
  }

  test("other batches are ranges of their own, and an empty batch has none") {
    assert(
      texts(plan(0, 2)) === Seq(
        (shardOf(0), Progress.TrimHorizon, after(10), Vector(0)),
        (shardOf(0), after(20), after(30), Vector(2))
      )
    )
    val same = LoggedBatch(9, offsets(1), offsets(1))
    assert(ReplayPlan.of(Seq(same)).isEmpty)
  }

  private def page(numbers: Int*) = PackedRecords(
    numbers.map(n => Record(SequenceNumber(s"$n"), None, s"$n".getBytes(UTF_8), 0, None)).toVector
  )

  private def parts(ranges: Seq[ReplayRange], shard: Int, records: PackedRecords) =
    new BatchParts(ranges)
      .of(shardOf(shard), records)
      .map { case (batch, part) => batch -> part.map(_.sequenceNumber.text.toInt) }
      .toVector

  test("each record of a page has the number of its batch") {
    val ranges = plan(0, 1, 2, 3)
    assert(
      parts(ranges, 0, page(3, 10, 11, 20, 21, 30)) ===
        Vector(0L -> Seq(3, 10), 1L -> Seq(11, 20), 2L -> Seq(21, 30))
    )
    assert(parts(ranges, 0, page(25)) === Vector(2L -> Seq(25)))
    assert(parts(ranges, 1, page(6, 7, 8, 900)) === Vector(1L -> Seq(6, 7), 3L -> Seq(8, 900)))
    assert(parts(plan(0, 2), 0, page(21, 30)) === Vector(2L -> Seq(21, 30)))
    assert(parts(ranges, 0, page()) === Vector.empty)
  }

  private def check(ranges: Seq[ReplayRange], now: Instant): Unit =
    ReplayPlan.checkRetained(ranges, _ => 24.hours, _ => now)

  test("batches that may have expired are refused, and the error names the first one") {
    val ranges = plan(1, 2, 3)
    val completeAsOf = ranges.flatMap(_.range.completeAsOf).min
    check(ranges, completeAsOf.plusSeconds(24 * 3600))
    val e = intercept[SourceException](check(ranges, completeAsOf.plusSeconds(25 * 3600)))
    assert(e.condition === "KINESIS_DATA_LOSS")
    assert(e.getMessage.contains(s"Records of batch 1 in ${shardId(0)} of stream $arn may have"))
    assert(e.getMessage.contains("The same is true of 1 other shards."))
    check(plan(0), noon.plusSeconds(1000L * 24 * 3600)) // its first record is checked by the task
  }
}
