package sparkkinesis.sink.write

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.model.{ShardId, StreamRef}
import sparkkinesis.sink.SinkCounters
import sparkkinesis.sink.lane.{Lane, Trouble}

/** How long a record may be tried before its writer fails. */
private[sink] final class DeliveryDeadline(
    stream: StreamRef,
    timeout: FiniteDuration,
    counters: SinkCounters
) {

  /** When a record must be written at the latest, in milliseconds. */
  def of(trouble: Trouble): Long = trouble.since + timeout.toMillis

  /**
   * @param misplaced the first aggregate that waits for its shard to be known
   * @throws DeliveryTimeoutException where a record has been tried for too long
   */
  def require(lanes: Seq[Lane], misplaced: Option[(ShardId, Trouble)], now: Long): Unit = {
    val troubles = lanes.iterator.flatMap(lane => lane.trouble.map(lane.shard -> _)) ++ misplaced
    troubles.find { case (_, trouble) => of(trouble) <= now }.foreach { case (shard, trouble) =>
      throw missed(shard, trouble)
    }
  }

  private def missed(shard: ShardId, first: Trouble) = new DeliveryTimeoutException(
    s"Stream $stream, shard $shard, did not take a record within $timeout (deliveryTimeout); " +
      s"${counters.waiting} records of this task wait. The first failure was: ${first.message}",
    first.cause.orNull
  )
}
