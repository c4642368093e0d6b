package sparkkinesis.sink.lane

import sparkkinesis.model.PutEntry
import sparkkinesis.model.aggregate.{AggregateBuilder, AggregateTags}
import sparkkinesis.sink.AggregateLimits

/**
 * The aggregated record that a lane adds records to, until it is large or old enough to be sent.
 *
 * @param sharesHashKey whether its records lose the hash keys of their own
 * @param tags for exactly once
 */
private[sink] final class OpenAggregate(
    limits: AggregateLimits,
    maxRecordBytes: Int,
    sharesHashKey: Boolean,
    tags: Option[AggregateTags]
) {
  private val builder = new AggregateBuilder(maxRecordBytes, sharesHashKey, tags)
  private val maxBytes = math.min(limits.bytes, maxRecordBytes)
  private var bufferedBytes = 0L
  private var oldest, latest = 0L
  private var failures = Option.empty[Failures]

  def isEmpty: Boolean = builder.count == 0

  /** Bytes of the Kinesis record if it were closed now. */
  def size: Int = builder.size.toInt

  /** When its oldest record arrived. */
  def arrivedAt: Long = oldest

  /** When its latest record arrived. */
  def lastArrivedAt: Long = latest

  /** The failures of its records. */
  def failed: Option[Failures] = failures

  /** @return the previous aggregate, if it has no room for the record and is closed */
  def add(
      entry: PutEntry,
      arrivedAt: Long,
      failure: Option[Failures]
  ): Option[PendingRecord] = {
    val isFull = builder.count >= limits.records || builder.sizeWith(entry) > maxBytes
    val full = if (isEmpty || !isFull) None else close()
    if (isEmpty) {
      oldest = arrivedAt
      latest = arrivedAt
      failures = None
    }
    oldest = math.min(oldest, arrivedAt)
    latest = math.max(latest, arrivedAt)
    bufferedBytes += entry.size
    if (failure.nonEmpty) failures = (failures ++ failure).reduceOption(_ and _)
    builder.add(entry)
    full
  }

  /** Makes one Kinesis record of the content, if there is any, and starts again empty. */
  def close(): Option[PendingRecord] =
    if (isEmpty) None
    else {
      val count = builder.count
      val record =
        new PendingRecord(builder.result(), count, bufferedBytes, oldest, latest)
      record.failures = failures
      bufferedBytes = 0
      failures = None
      Some(record)
    }
}
