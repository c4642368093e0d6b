package sparkkinesis.source.replay

import java.nio.charset.StandardCharsets.UTF_8
import java.time.Instant

import scala.collection.immutable.SortedMap

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators.{arn, only, shardId, shardOf, stream}
import sparkkinesis.client._
import sparkkinesis.model.offset.{Progress, ShardProgress, SourceOffset, StreamOffset}
import sparkkinesis.model.{PackedRecords, Record, SequenceNumber}
import sparkkinesis.shard.{ServiceTime, ShardRange, SourceException}
import sparkkinesis.source.ScriptedKinesis.summary
import sparkkinesis.source.checkpoint.DescribedStream

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

  private def texts(ranges: Seq[ShardRange]) =
    ranges.map(it => (it.shard, it.from, it.upTo, it.batches.map(_.number)))

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

  /** Of a page that each range of the shard begins with. */
  private def parts(ranges: Seq[ShardRange], shard: Int, records: PackedRecords) =
    ranges.filter(_.shard == shardOf(shard)).flatMap { range =>
      ReplayPlan.parts(range, records).map { case (batch, part) =>
        batch -> part.map(_.sequenceNumber.text.toInt)
      }
    }

  test("each record of a page has the number of its batch") {
    val ranges = plan(0, 1, 2, 3)
    assert(
      parts(ranges, 0, page(3, 10, 11, 20, 21, 30)) ===
        Vector(0L -> Seq(3, 10), 1L -> Seq(11, 20), 2L -> Seq(21, 30))
    )
    assert(parts(ranges, 0, page(25)) === Vector(2L -> Seq(25)))
    assert(parts(ranges, 1, page(6, 7, 8, 900)) === Vector(1L -> Seq(6, 7), 3L -> Seq(8, 900)))
    assert(parts(plan(2), 0, page(21, 30)) === Vector(2L -> Seq(21, 30)))
    assert(parts(ranges, 0, page()) === Vector.empty)
  }

  /** A batch of the first shard. */
  private def batch(number: Long, from: Progress, upTo: Int) =
    LoggedBatch(number, offset(0 -> from), offset(0 -> after(upTo)))

  test("after a move back, batches overlap, and each has its own records") {
    val ranges = ReplayPlan.of(
      Seq(
        batch(4, after(50), 100),
        batch(5, after(100), 200),
        batch(6, after(100), 250),
        batch(7, after(250), 300)
      )
    )
    assert(
      texts(ranges) === Seq(
        (shardOf(0), after(50), after(200), Vector(4, 5)),
        (shardOf(0), after(100), after(300), Vector(6, 7))
      )
    )
    assert(parts(ranges.take(1), 0, page(100, 200)) === Seq(4L -> Seq(100), 5L -> Seq(200)))
    assert(parts(ranges.drop(1), 0, page(150, 200, 250)) === Seq(6L -> Seq(150, 200, 250)))
  }

  test("batches that read the same records after a move back remain two") {
    val ranges = ReplayPlan.of(
      Seq(batch(0, Progress.TrimHorizon, 20), batch(1, Progress.TrimHorizon, 20))
    )
    assert(
      texts(ranges) === Seq(
        (shardOf(0), Progress.TrimHorizon, after(20), Vector(0)),
        (shardOf(0), Progress.TrimHorizon, after(20), Vector(1))
      )
    )
    assert(parts(ranges, 0, page(7, 20)) === Seq(0L -> Seq(7, 20), 1L -> Seq(7, 20)))
  }

  private def check(ranges: Seq[ShardRange], now: Instant): Unit = {
    val config =
      ClientConfig("eu-west-1", None, CredentialsConfig(CredentialsSource.DefaultChain, None))
    val described = DescribedStream(StreamAccess(stream, config), summary(), new ServiceTime)
    new ReplayedStreams(Seq(described)).checkRetained(ranges, now)
  }

  test("batches that may have expired are refused, and the error names the first one") {
    val ranges = plan(1, 2, 3)
    val completeAsOf = ranges.flatMap(_.completeAsOf).min
    check(ranges, completeAsOf.plusSeconds(24 * 3600))
    val e = intercept[SourceException](check(ranges, completeAsOf.plusSeconds(25 * 3600)))
    assert(e.condition === "KINESIS_DATA_LOSS")
    assert(e.getMessage.contains(s"Records of batch 1 in ${shardId(0)} of stream $arn may have"))
    assert(e.getMessage.contains("The same is true of 1 other shards."))
    check(plan(0), noon.plusSeconds(1000L * 24 * 3600)) // its first record is checked by the task
  }
}
