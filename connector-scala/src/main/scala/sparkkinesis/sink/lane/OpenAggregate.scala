package sparkkinesis.sink.lane

import sparkkinesis.model.PutEntry
import sparkkinesis.model.aggregate.{AggregateBuilder, AggregateTags}
import sparkkinesis.sink.AggregateLimits

/**
 * The aggregated record that a lane adds records to, until it is large or old enough to be sent.
 *
 * @param tags for exactly once
 */
private[sink] final class OpenAggregate(
    limits: AggregateLimits,
    maxRecordBytes: Int,
    tags: Option[AggregateTags]
) {
  private val builder = new AggregateBuilder(maxRecordBytes, tags)
  private val maxBytes = math.min(limits.bytes, maxRecordBytes)
  private var hashHi = 0L
  private var hashLo = 0L
  private var bufferedBytes = 0L
  private var oldest = 0L
  private var firstFailure = Option.empty[FirstFailure]

  def isEmpty: Boolean = builder.count == 0

  /** Bytes of the Kinesis record if it were closed now. */
  def size: Int = builder.size.toInt

  /** When its oldest record arrived. */
  def arrivedAt: Long = oldest

  /** @return the previous aggregate, if it has no room for the record and is closed */
  def add(
      entry: PutEntry,
      entryHashHi: Long,
      entryHashLo: Long,
      arrivedAt: Long,
      failure: Option[FirstFailure]
  ): Option[PendingRecord] = {
    val isFull = builder.count >= limits.records || builder.sizeWith(entry) > maxBytes
    val full = if (isEmpty || !isFull) None else close()
    if (isEmpty) {
      hashHi = entryHashHi
      hashLo = entryHashLo
      oldest = arrivedAt
      firstFailure = failure
    }
    oldest = math.min(oldest, arrivedAt)
    bufferedBytes += EntrySize.of(entry)
    firstFailure = firstFailure.orElse(failure)
    builder.add(entry)
    full
  }

  /** Makes one Kinesis record of the content, if there is any, and starts again empty. */
  def close(): Option[PendingRecord] =
    if (isEmpty) None
    else {
      val count = builder.count
      val record =
        new PendingRecord(builder.result(), hashHi, hashLo, count, bufferedBytes, oldest)
      record.firstFailure = firstFailure
      bufferedBytes = 0
      Some(record)
    }
}
