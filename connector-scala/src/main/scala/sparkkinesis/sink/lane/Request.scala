package sparkkinesis.sink.lane

import scala.collection.immutable.ArraySeq

import sparkkinesis.model.{PutEntry, ShardId}

/**
 * A `PutRecords` request: some records of each of several lanes.
 *
 * @param sentAt in milliseconds
 */
private[sink] final class Request(
    val parts: Vector[Request.Part],
    val records: Array[PendingRecord],
    val sentAt: Long
) {

  /** The entries of the service call. */
  def entries: IndexedSeq[PutEntry] = ArraySeq.unsafeWrapArray(records.map(_.entry))

  private var size = 0L
  private var first = sentAt
  records.foreach { record =>
    size += record.size
    record.failures.foreach(it => first = math.min(first, it.sentAt))
  }

  /** Bytes of data and partition keys. */
  def bytes: Long = size

  /** When the first of its records was sent: now, or earlier. */
  def firstSentAt: Long = first

  /** The record that was sent first, with its shard. */
  def oldest: (ShardId, Failures) = parts.iterator
    .flatMap { part =>
      val failures = Iterator.range(part.from, part.until).flatMap(records(_).failures)
      failures.map(part.lane.shard -> _)
    }
    .reduceOption((a, b) => if (b._2.sentAt < a._2.sentAt) b else a)
    .getOrElse {
      parts.head.lane.shard -> Failures(sentAt, Request.NoAnswer, None, mayBeWritten = true)
    }
}

private[sink] object Request {
  private val NoAnswer = "Kinesis has not answered the request."

  /** The records of one lane: those from index `from` (inclusive) to `until` (exclusive). */
  final case class Part(lane: Lane, from: Int, until: Int)
}
