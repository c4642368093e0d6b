package sparkkinesis.bench.server

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import sparkkinesis.bench.raw.RawClient
import sparkkinesis.model.offset.{Progress, ShardProgress, SourceOffset, StreamOffset}
import sparkkinesis.model.{SequenceNumber, ShardId, StreamArn, StreamName}
import sparkkinesis.shard.ShardRange
import sparkkinesis.source.checkpoint.OffsetCodec
import sparkkinesis.source.plan.{BatchPlanner, ExecutorTable, RangePacking, ReadAhead}
import sparkkinesis.source.protocol._

/**
 * A large stream as the driver of its query sees it: executors that report pages of each shard, and
 * batches over them. There is no service.
 */
final class LargeStream(shards: Int) {
  import LargeStream._

  private val executors = (1 to Executors).map(_.toString)
  private val ahead = new ReadAhead(new ExecutorTable(1.hour))
  private var batch = 0
  private var start = offset(SequenceNumber(FirstNumber.toString))
  private var versions = Map.empty[String, Long]
  private var plans = Map.empty[String, FetchPlan]

  ahead.advance(start, start)
  (executors ++ executors).foreach(hear(_, Vector.empty))

  /** Reports the pages of a batch for each shard. */
  def report(): Unit = {
    batch += 1
    executors.foreach(hear(_, Vector.empty)) // the plan of the batch before
    executors.foreach { executor =>
      hear(executor, plans(executor).assignments.map(a => reportOf(a)))
    }
  }

  /**
   * Plans a batch over the reported pages, and returns the ranges of each task. The offset is not
   * logged.
   */
  def plan(): Seq[Seq[ShardRange]] = {
    val end = BatchPlanner.end(start, ahead.frontiers, ReadLimits.None)
    val ranges = BatchPlanner.ranges(start, end)
    val located = ahead.located(ranges.toVector)
    ahead.advance(start, end)
    start = end
    RangePacking.pack(located, Tasks).map { case (_, packed) => packed }
  }

  /** The text that Spark logs for the last planned batch. */
  def encoded: String = OffsetCodec.encode(start)

  private def hear(executor: String, reports: Vector[FetchReport]): Unit = {
    val known = versions.getOrElse(executor, 0L)
    val status =
      Heartbeat(executor, s"host-$executor", reports, FetchCounters.Zero, None, known)
    val reply = ahead.heard(status)
    versions += executor -> reply.version
    reply.plan.foreach(plan => plans += executor -> plan)
  }

  private def reportOf(assignment: Assignment): FetchReport = {
    val marks = (1 to Pages).map { page =>
      val number = FirstNumber + (batch - 1) * Pages + page
      val upTo = Progress.After(SequenceNumber(number.toString))
      Mark(upTo, PageRecords, PageRecords * 1000, now.toEpochMilli)
    }
    val (from, time) = (assignment.from, now.toEpochMilli)
    FetchReport(assignment.shard, assignment.generation, from, marks.toVector, Nil, 0, time)
  }

  private def offset(number: SequenceNumber): SourceOffset = {
    val all = (0 until shards).map { n =>
      ShardId(f"shardId-$n%012d") -> ShardProgress(Progress.After(number), Set.empty, Some(Begin))
    }
    val arn = StreamArn("aws", RawClient.Region, "123456789012", StreamName("paper"))
    SourceOffset.of(Seq(StreamOffset(arn, Begin, SortedMap.from(all))))
  }

  private def now: Instant = Begin.plusMillis(batch.toLong)
}

object LargeStream {
  private val Executors = 4
  private val Tasks = 16 // four slots each

  /** Number of pages per shard in a batch. */
  val Pages = 5

  private val PageRecords = 1000L
  private val Begin = Instant.parse("2026-01-01T00:00:00Z")
  private val FirstNumber = BigInt("49" + "5" * 54) // as long as the service's
}
