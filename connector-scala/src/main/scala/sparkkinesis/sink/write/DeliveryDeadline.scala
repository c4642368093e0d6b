package sparkkinesis.sink.write

import sparkkinesis.model.{ShardId, StreamRef}
import sparkkinesis.sink.SinkOptions
import sparkkinesis.sink.lane.{ExpiredRecord, Failures, Lane, LaneSet}
import sparkkinesis.sink.metrics.SinkCounters

/** How long the records of one stream are tried before they are given up. */
private[sink] final class DeliveryDeadline(
    stream: StreamRef,
    options: SinkOptions,
    counters: SinkCounters
) {
  private val timeout = options.deliveryTimeout
  private val isKept = options.deadLetters.exists(_.keepsLateRecords)

  /** The time at which a record is given up that was sent first at that time, in milliseconds. */
  def after(sentAt: Long): Long =
    if (sentAt == Lane.Never) Lane.Never else sentAt + timeout.toMillis

  /**
   * Gives up records that have been tried for too long.
   *
   * @param sent returns those in requests that are not answered, if they were sent by a time. These
   *   requests end by their own limit if records are kept
   * @param others that wait outside of their lanes
   * @return the records that were removed from their lanes, if the options say that they are kept
   * @throws DeliveryTimeoutException otherwise
   */
  def check(
      lanes: LaneSet,
      sent: Long => Iterable[(ShardId, Failures)],
      others: Iterable[(ShardId, Failures)],
      now: Long
  ): Vector[ExpiredRecord] = {
    val expired = if (isKept) expire(lanes, now) else Vector.empty
    val before = now - timeout.toMillis
    val tried = lanes.oldestFailures(before) ++ others ++ (if (isKept) Nil else sent(before))
    tried.find { case (_, failures) => failures.sentAt <= before }.foreach {
      case (shard, failures) =>
        throw missed(shard, failures)
    }
    expired
  }

  private def expire(lanes: LaneSet, now: Long): Vector[ExpiredRecord] =
    lanes.expire(now - timeout.toMillis, now) { it =>
      counters.recordsExpired(it.userRecords, it.bufferedBytes)
    }

  private def missed(shard: ShardId, failures: Failures) = new DeliveryTimeoutException(
    s"Stream $stream, shard $shard, did not accept a record within $timeout (deliveryTimeout). " +
      s"${counters.bufferedRecords} records of this task are not acknowledged. " +
      s"The first failure was: ${failures.message}",
    failures.cause.orNull
  )
}

/** Kinesis did not accept a record in time. Records that still wait may have been written. */
private[sparkkinesis] final class DeliveryTimeoutException(message: String, cause: Throwable)
    extends RuntimeException(message, cause)
