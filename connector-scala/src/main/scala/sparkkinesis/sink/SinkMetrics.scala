package sparkkinesis.sink

import java.util.concurrent.atomic.LongAdder

/**
 * What a writer has done so far.
 *
 * @param records acknowledged
 * @param bytes of those, partition keys included
 * @param requests sent
 * @param retried records sent again, each time counted
 * @param throttled records refused for too much traffic, each time counted
 */
final case class SinkMetrics(
    records: Long,
    bytes: Long,
    requests: Long,
    retried: Long,
    throttled: Long
)

/** Counts from many threads. */
private[sink] final class SinkCounters {
  val records = new LongAdder
  val bytes = new LongAdder
  val requests = new LongAdder
  val retried = new LongAdder
  val throttled = new LongAdder

  def snapshot: SinkMetrics =
    SinkMetrics(records.sum, bytes.sum, requests.sum, retried.sum, throttled.sum)
}
