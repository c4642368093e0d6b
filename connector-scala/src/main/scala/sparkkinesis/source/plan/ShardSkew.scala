package sparkkinesis.source.plan

import scala.annotation.tailrec
import scala.concurrent.duration._

import sparkkinesis.compat._
import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.model.{ArrivalTimes, StreamShard}
import sparkkinesis.source.protocol.{Frontier, Mark, ReadLimits}

/**
 * Holds shards back, so that no shard is read further than the oldest unread record of another plus
 * a duration, by the arrival times. The same arguments always give the same result.
 *
 * Only shards that are readable at `start` count. The records of a shard that waits for its parents
 * are later than those of the parents, and one of these, or an ancestor of it, is readable.
 */
private[sparkkinesis] object ShardSkew {

  /**
   * The frontiers with the marks that a batch may take, and who holds the other marks back. All of
   * the former together fit into the limits, unless it is only one.
   *
   * @param skew at least the time between the first arrival and the latest one of a mark
   */
  def limited(
      start: SourceOffset,
      frontiers: Map[StreamShard, Frontier],
      limits: ReadLimits,
      skew: FiniteDuration
  ): (Map[StreamShard, Frontier], Option[HeldBack]) = {
    val readable = start.readable.keySet
    val by = readable.map(id => completeAsOf(start, frontiers, id) -> id).minOption
    val oldest = by.fold(0L)(_._1)
    // An unread record may have arrived earlier by the margin.
    val last = oldest + (skew - ArrivalTimes.Margin).max(Duration.Zero).toMillis
    val all = frontiers.toSeq.collect {
      case (id, frontier) if readable(id) => id -> frontier.marks.zip(arrivals(frontier.marks))
    }
    val due =
      for ((id, marks) <- all; (mark, arrival) <- marks if arrival <= last)
        yield Due(arrival, id, mark)
    val taken = fitting(due.sortBy(it => (it.arrival, it.shard)).toList, limits)
      .groupBy(_.shard)
      .transform((_, marks) => marks.size)
    val waiting = all.count { case (_, marks) => marks.lastOption.exists(_._2 > last) }
    (
      frontiers.transform((id, frontier) => frontier.take(taken.getOrElse(id, 0))),
      by.filter(_ => waiting > 0).map { case (_, shard) => HeldBack(shard, oldest, waiting) }
    )
  }

  /** Every unread record of the shard arrived about this time or later; 0 if that is not known. */
  private def completeAsOf(
      start: SourceOffset,
      frontiers: Map[StreamShard, Frontier],
      id: StreamShard
  ): Long = {
    val planned = start.shard(id).flatMap(_.completeAsOf).fold(0L)(_.toEpochMilli)
    math.max(planned, frontiers.get(id).fold(0L)(_.completeAsOfMillis))
  }

  /** The latest arrival time up to each mark. */
  private def arrivals(marks: Vector[Mark]): Vector[Long] =
    marks.scanLeft(0L)((latest, mark) => math.max(latest, mark.lastArrivalMillis)).drop(1)

  private final case class Due(arrival: Long, shard: StreamShard, mark: Mark)

  /** The oldest marks that fit into the limits. At least one, so that the query continues. */
  private def fitting(due: List[Due], limits: ReadLimits): Vector[Due] = {
    @tailrec
    def more(rest: List[Due], taken: Vector[Due], records: Long, bytes: Long): Vector[Due] =
      rest match {
        case next :: later =>
          val (r, b) = (records + next.mark.records, bytes + next.mark.bytes)
          if (taken.isEmpty || limits.allow(r, b)) more(later, taken :+ next, r, b) else taken
        case Nil => taken
      }
    more(due, Vector.empty, 0, 0)
  }
}

/**
 * Shards have records that no batch may take yet.
 *
 * @param by the shard that they wait for
 * @param upToMillis the arrival time up to which that shard was read; 0 if unknown
 * @param shards number of shards that wait
 */
private[sparkkinesis] final case class HeldBack(by: StreamShard, upToMillis: Long, shards: Int)
