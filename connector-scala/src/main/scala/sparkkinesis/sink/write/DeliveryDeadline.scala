package sparkkinesis.sink.write

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.model.{ShardId, StreamRef}
import sparkkinesis.sink.lane.{FirstFailure, Lane}
import sparkkinesis.sink.metrics.SinkCounters

/** How long the records of one stream are retried before their writer fails. */
private[sink] final class DeliveryDeadline(
    stream: StreamRef,
    timeout: FiniteDuration,
    counters: SinkCounters
) {

  /** The time at which a failed record makes the writer fail, in milliseconds. */
  def of(failure: FirstFailure): Long = failure.sentAt + timeout.toMillis

  /**
   * @param others that wait outside of their lanes
   * @throws DeliveryTimeoutException if a record has been retried for too long
   */
  def check(lanes: Seq[Lane], others: Iterable[(ShardId, FirstFailure)], now: Long): Unit = {
    val failures =
      lanes.iterator.flatMap(lane => lane.firstFailure.map(lane.shard -> _)) ++ others
    failures.find { case (_, failure) => of(failure) <= now }.foreach { case (shard, failure) =>
      throw missed(shard, failure)
    }
  }

  private def missed(shard: ShardId, failure: FirstFailure) = new DeliveryTimeoutException(
    s"Stream $stream, shard $shard, did not accept a record within $timeout (deliveryTimeout). " +
      s"${counters.bufferedRecords} records of this task are not acknowledged. " +
      s"The first failure was: ${failure.message}",
    failure.cause.orNull
  )
}
