package sparkkinesis.sink.lane

import sparkkinesis.model.PutEntry
import sparkkinesis.model.aggregate.UserRecords

/**
 * A Kinesis record on its way.
 *
 * @param hi with `lo` the hash key that chooses its shard
 * @param users records of the writer's caller in it: 1, or those of an aggregate
 * @param held bytes of those, as they count towards the writer's memory
 * @param since when the oldest of them came, in milliseconds
 */
private[sink] final class PendingRecord(
    val entry: PutEntry,
    val hi: Long,
    val lo: Long,
    val users: Int,
    val held: Long,
    val since: Long
) {

  /** Towards the service's limits. */
  val size: Int = EntrySize.of(entry).toInt

  /** What went wrong first, and when it was first sent; once it was. */
  var trouble: Option[Trouble] = None

  /** It was not written; the first time counts. */
  def failed(sentAt: Long, message: String, cause: Option[Throwable]): Unit =
    if (trouble.isEmpty) trouble = Some(Trouble(sentAt, message, cause))

  def isAggregate: Boolean = users > 1

  /** The caller's records. What is larger than its only record is that one wrapped. */
  def pieces: Seq[PutEntry] =
    if (isAggregate || size > held) UserRecords.of(entry) else Seq(entry)
}

/**
 * @param since when the record was first sent, in milliseconds
 * @param message of the first failure
 */
private[sink] final case class Trouble(since: Long, message: String, cause: Option[Throwable])

/** What a record counts towards the service's limits: its data, and its partition key in UTF-8. */
private[sink] object EntrySize {
  def of(entry: PutEntry): Long = entry.data.length.toLong + utf8Length(entry.partitionKey)

  /** As long as its encoding, without encoding it: this runs for every record. */
  private[sink] def utf8Length(text: String): Int = {
    var bytes = 0
    var i = 0
    while (i < text.length) {
      val c = text.charAt(i)
      if (c < 0x80) bytes += 1
      else if (c < 0x800) bytes += 2
      else if (isPair(text, i)) {
        bytes += 4
        i += 1
      } else if (Character.isSurrogate(c)) bytes += 1 // half a pair is encoded as '?'
      else bytes += 3
      i += 1
    }
    bytes
  }

  private def isPair(text: String, i: Int): Boolean =
    i + 1 < text.length && Character.isSurrogatePair(text.charAt(i), text.charAt(i + 1))
}
