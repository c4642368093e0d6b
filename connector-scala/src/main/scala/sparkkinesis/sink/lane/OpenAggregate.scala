package sparkkinesis.sink.lane

import sparkkinesis.model.PutEntry
import sparkkinesis.model.aggregate.AggregateBuilder

/** The aggregate that a lane's records go into, until it is large or old enough. */
private[sink] final class OpenAggregate(limits: AggregateLimits, maxRecordBytes: Int) {
  private val builder = new AggregateBuilder(maxRecordBytes)
  private val mostBytes = math.min(limits.bytes, maxRecordBytes)
  private var hi = 0L
  private var lo = 0L
  private var held = 0L
  private var oldest = 0L
  private var trouble = Option.empty[Trouble]

  def isEmpty: Boolean = builder.count == 0

  /** Bytes of the Kinesis record that it would be now. */
  def size: Int = builder.size.toInt

  /** When its oldest record came. */
  def since: Long = oldest

  /** @return the aggregate before it that has no more room, if so */
  def add(
      entry: PutEntry,
      keyHi: Long,
      keyLo: Long,
      now: Long,
      before: Option[Trouble]
  ): Option[PendingRecord] = {
    val isFull = builder.count >= limits.records || builder.sizeWith(entry) > mostBytes
    val full = if (isEmpty || !isFull) None else close()
    if (isEmpty) {
      hi = keyHi
      lo = keyLo
      oldest = now
      trouble = before
    }
    oldest = math.min(oldest, now)
    held += EntrySize.of(entry)
    trouble = trouble.orElse(before)
    builder.add(entry)
    full
  }

  /** What there is, as one Kinesis record. */
  def close(): Option[PendingRecord] =
    if (isEmpty) None
    else {
      val users = builder.count
      val record = new PendingRecord(builder.result(), hi, lo, users, held, oldest)
      record.trouble = trouble
      held = 0
      Some(record)
    }
}
