package sparkkinesis.sink

import java.time.Instant

import sparkkinesis.model.{PutEntry, ServiceLimits}

/**
 * What one `PutRecords` request may hold.
 *
 * @param bytes of data and partition keys together
 */
final case class RequestLimits(records: Int, bytes: Long)

object RequestLimits {

  /** The service's own. */
  val Default: RequestLimits =
    RequestLimits(ServiceLimits.PutRecordsCount, ServiceLimits.PutRecordsBytes.toLong)
}

/**
 * The records of one request, in the order they came.
 *
 * @param bytes of data and partition keys
 * @param since when the oldest of them came
 */
final case class Batch(entries: Vector[PutEntry], bytes: Long, since: Instant) {

  /** With one more, if the limits allow. A record larger than any request stands alone. */
  def add(entry: PutEntry, limits: RequestLimits): Option[Batch] = {
    val sum = bytes + EntrySize.of(entry)
    if (entries.size < limits.records && sum <= limits.bytes)
      Some(Batch(entries :+ entry, sum, since))
    else None
  }

  def isFull(limits: RequestLimits): Boolean =
    entries.size >= limits.records || bytes >= limits.bytes

  /** Those at which `keep` is true, as old as before. */
  def select(keep: Int => Boolean): Batch = {
    val kept = entries.indices.iterator.filter(keep).map(entries).toVector
    Batch(kept, kept.iterator.map(EntrySize.of).sum, since)
  }
}

object Batch {
  def of(entry: PutEntry, now: Instant): Batch = Batch(Vector(entry), EntrySize.of(entry), now)
}

/** What a record counts towards the service's limits: its data, and its partition key in UTF-8. */
object EntrySize {
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
