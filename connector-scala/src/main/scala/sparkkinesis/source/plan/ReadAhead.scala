package sparkkinesis.source.plan

import java.time.Instant

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.compat._
import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.{Progress, SourceOffset}
import sparkkinesis.source.protocol._

/**
 * Decides which executor reads which shard ahead, and knows how far they have read. Runs on the
 * driver, on one thread at a time.
 *
 * A shard stays with its executor until the executor is lost, a report is missing, or an executor
 * joins and gets its share. The reports of executors matter for speed only: tasks read a planned
 * range again from Kinesis if its pages are gone.
 *
 * @param distance between marks, if there are very many
 */
final class ReadAhead(
    executors: ExecutorTable,
    distance: ReadLimits = ReadLimits.None
) {
  private var batchStart: Option[SourceOffset] = None // of the last planned batch
  private var batchEnd: Option[SourceOffset] = None
  private var processed: Map[StreamShard, Progress] = Map.empty // progress at `batchStart`
  private var nextEnd: Map[StreamShard, Progress] = Map.empty // of the batch that was found last
  private var reading = ReadingShards.Empty
  private var closedShards = 0L
  private var version = 0L
  private var isUneven = false // an executor has joined

  /**
   * Moves on after a batch is planned: executors read ahead from `end`, and may drop pages before
   * `start`.
   */
  def advance(start: SourceOffset, end: SourceOffset): Unit =
    if (!batchEnd.contains(end) || !batchStart.contains(start)) move(start, end)

  private def move(start: SourceOffset, end: SourceOffset): Unit = {
    closedShards += ShardCounts.closedBetween(batchEnd.getOrElse(start), end)
    batchStart = Some(start)
    batchEnd = Some(end)
    processed = start.progress
    reading = reading.movedTo(end.readable, end.shard(_).flatMap(_.completeAsOf))
    version += 1
    assign()
  }

  /** A batch will be planned that ends there: its end must stay a mark. */
  def foundEnd(end: SourceOffset): Unit = nextEnd = end.progress

  /** Answers a heartbeat. */
  def heard(status: FetchStatus): FetchReply = {
    val isNew = !executors.live(status.executor)
    if (executors.heard(status)) {
      isUneven ||= isNew
      received(status)
      val plan =
        Option.when(status.knownVersion != version)(reading.plan(status.executor, processed))
      FetchReply(version, executors.isStopped, plan)
    } else FetchReply(version, isStopped = true, None)
  }

  private def received(status: FetchStatus): Unit = {
    // A service that knows no plan is new. The pages of an earlier one on this executor are gone.
    if (status.knownVersion == 0) reading = reading.without(Set(status.executor))
    status.failure.filter(reading.isOf(status.executor, _)).foreach(executors.fails)
    reading = status.reports.foldLeft(reading) { (all, report) =>
      all.reported(status.executor, report, distance, nextEnd.get(report.shard))
    }
    status.reports.foreach(report => executors.heardOf(report.shard))
    assign()
  }

  /** Assigns the shards of these executors to others. */
  def reassign(gone: Set[String]): Unit = if (gone.nonEmpty) {
    reading = reading.without(gone)
    assign()
  }

  private def assign(): Unit = {
    val before = reading.generations
    // The pages of a running batch stay where its tasks look for them.
    if (isUneven && batchStart == batchEnd) {
      reading = reading.balanced(executors.live.size)
      isUneven = false
    }
    reading = reading.assigned(executors.live)
    if (reading.generations != before) version += 1
  }

  /** What executors have read after the end of the last planned batch. */
  def found: Found = reading.found

  /** See [[Found.frontiers]]. */
  def frontiers: Map[StreamShard, Frontier] = found.frontiers

  /** The host and the executor that have the pages of a shard. */
  def location(shard: StreamShard): Option[(String, String)] =
    for {
      state <- reading.shards.get(shard)
      id <- state.executor
      host <- executors.host(id)
    } yield (host, id)

  /** The ranges with the location and the marks of their pages. */
  def located(ranges: Vector[ShardRange]): Vector[LocatedRange[(String, String)]] =
    ranges.map { range =>
      val marks = reading.shards.get(range.shard).fold(Vector.empty[Mark])(_.marksOf(range))
      LocatedRange(range, location(range.shard), marks)
    }

  /** Number of shards that are read ahead, or wait for an executor. */
  def readable: Int = reading.shards.size

  /** See [[UnreadSince]]. */
  def unread: Map[StreamShard, Instant] =
    batchStart.fold(Map.empty[StreamShard, Instant])(UnreadSince.of(_, frontiers))

  /** The longest time for which no page of a shard was reported, not even an empty one. */
  def longestSilence: FiniteDuration = executors.longestSilence(reading.shards.keySet)

  def shardCounts: ShardCounts =
    batchEnd.fold(ShardCounts.Zero)(ShardCounts.of(_, reading, closedShards))

  /** Each executor gets an answer of a new version. */
  def changed(): Unit = version += 1

  /**
   * Whether executors have read a page of every readable shard, or a record of any.
   *
   * @param ofAll whether a record of any shard is not enough
   */
  def hasFirstLook(ofAll: Boolean): Boolean = batchEnd.exists { offset =>
    val looks = offset.readable.keys.map(id => reading.shards.get(id).flatMap(_.frontier))
    looks.forall(_.nonEmpty) || !ofAll && looks.exists(_.exists(_.marks.nonEmpty))
  }
}
