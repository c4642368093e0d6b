package sparkkinesis.source.plan

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.compat._
import sparkkinesis.model.{StreamArn, StreamShard}
import sparkkinesis.source.protocol.Frontier

/** How old the oldest record of each shard is, at most, that the query has not processed. */
private[source] object ProcessingLag {

  /**
   *   - If such a record was read, its age is known.
   *   - If all were processed, the query is as late as the last page was behind the tip. While no
   *     page comes, for example because reads are refused, unknown records may wait, so it becomes
   *     later with the time.
   *   - If no executor reads the shard, it is complete up to some time, and later records may wait.
   *
   * @param shards that the query reads
   * @param frontiers how far executors have read on
   * @param waiting arrival time of the first record that was read and not processed, of the shards
   *   that have one; 0 if it is unknown
   * @param completeAsOf up to which the shard has no unprocessed record
   * @param silences time since the last page of each shard, perhaps an empty one
   * @param pause between two pages of a shard without records: no reason to be late
   * @param now the service's time
   * @return in milliseconds; without the shards of which nothing is known
   */
  def of(
      shards: Iterable[StreamShard],
      frontiers: Map[StreamShard, Frontier],
      waiting: Map[StreamShard, Long],
      completeAsOf: StreamShard => Option[Instant],
      silences: Map[StreamShard, FiniteDuration],
      pause: FiniteDuration,
      now: Map[StreamArn, Instant]
  ): Map[StreamShard, Long] = {
    def since(shard: StreamShard, millis: Long) =
      now.get(shard.stream).map(it => math.max(0L, it.toEpochMilli - millis))
    def silent(shard: StreamShard) =
      silences.get(shard).fold(0L)(it => math.max(0L, (it - pause).toMillis))
    def lag(shard: StreamShard): Option[Long] =
      waiting.get(shard).filter(_ > 0) match {
        case Some(arrival) => since(shard, arrival)
        case None =>
          frontiers
            .get(shard)
            .filterNot(_ => waiting.contains(shard))
            .map(_.millisBehindLatest + silent(shard))
            .orElse(completeAsOf(shard).flatMap(it => since(shard, it.toEpochMilli)))
            .orElse(Some(silent(shard)).filter(_ > 0))
      }
    shards.iterator.flatMap(shard => lag(shard).map(shard -> _)).toMap
  }
}
