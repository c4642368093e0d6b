package sparkkinesis.source.replay

import java.time.Instant

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.compat._
import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.{Progress, SourceOffset}
import sparkkinesis.source.plan.BatchPlanner
import sparkkinesis.source.protocol.ShardRange
import sparkkinesis.source.{DataLoss, SourceException}

/** A batch of a streaming query, as the query's checkpoint has it. */
final case class LoggedBatch(number: Long, start: SourceOffset, end: SourceOffset)

/**
 * The end of a batch in a shard.
 *
 * @param upTo `After` the batch's last record, or `Finished`
 */
final case class BatchEnd(batch: Long, upTo: Progress)

/**
 * A part of a shard that a task reads: consecutive batches, so that each page is fetched once.
 *
 * @param ends of the batches, in order
 */
final case class ReplayRange(range: ShardRange, ends: Vector[BatchEnd]) {

  /** This range with one that begins where this one ends. */
  def ++(other: ReplayRange): ReplayRange =
    ReplayRange(range.copy(upTo = other.range.upTo), ends ++ other.ends)
}

/** Plans which records are read to replay batches. The same arguments always give the same plan. */
object ReplayPlan {

  /**
   * Exactly the records of the batches.
   *
   * @param batches in ascending order
   * @throws SourceException if the offsets of a batch contradict each other
   */
  def of(batches: Seq[LoggedBatch]): Seq[ReplayRange] = {
    val each = for {
      batch <- batches
      range <- BatchPlanner.ranges(batch.start, batch.end)
    } yield ReplayRange(range, Vector(BatchEnd(batch.number, range.upTo)))
    each.groupBy(_.range.shard).toSeq.sortBy(_._1).flatMap { case (_, ranges) => joined(ranges) }
  }

  private def joined(ranges: Seq[ReplayRange]): Seq[ReplayRange] =
    ranges.foldLeft(Vector.empty[ReplayRange]) {
      case (before :+ last, next) if last.range.upTo == next.range.from => before :+ (last ++ next)
      case (before, next) => before :+ next
    }

  /**
   * @param retention of each stream
   * @param now the time of the service, for each stream
   * @throws SourceException if records of a range may have expired
   */
  def checkRetained(
      ranges: Seq[ReplayRange],
      retention: StreamShard => FiniteDuration,
      now: StreamShard => Instant
  ): Unit = {
    val expired = ranges.filter { it =>
      val horizon = now(it.range.shard).minusMillis(retention(it.range.shard).toMillis)
      it.range.completeAsOf.exists(_.isBefore(horizon))
    }
    expired.minByOption(_.ends.head.batch).foreach { first =>
      val id = first.range.shard
      val extent = DataLoss.extent(first.range.completeAsOf, Some(retention(id)), now(id))
      val shards = expired.map(_.range.shard).distinct.size
      val others = if (shards > 1) s" The same is true of ${shards - 1} other shards." else ""
      throw new SourceException(
        "KINESIS_DATA_LOSS",
        s"Records of batch ${first.ends.head.batch} in ${id.shard} of stream ${id.stream} may " +
          s"have expired: $extent.$others Set 'replayBatches' to later batches. To read the " +
          "records that are left, set 'failOnDataLoss' to 'false'."
      )
    }
  }
}
