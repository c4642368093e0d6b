package sparkkinesis.model.aggregate

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest

import sparkkinesis.model.{HashKey, PutEntry}

/**
 * Makes one Kinesis record of many, as the Kinesis Producer Library does and [[AggregatedRecord]]
 * reads it. Byte for byte what that library writes: both tables, then the records as they came.
 * Reused after `result`; for one thread.
 *
 * A record alone goes as it came. Not so one whose data begin as an aggregate does (`F3 89 9A C2`):
 * readers would take it apart where it happened to be alone, and leave it whole among others, for
 * they open the outer aggregate only. The Kinesis Producer Library leaves that to chance. Here it
 * becomes an aggregate of one record, so that one record written always is one record read; unless
 * the stream has no room for that: then it goes plain, each time, as no aggregate can hold it.
 *
 * @param maxRecordBytes what the stream allows for data and partition key together. Nothing is
 *   refused for it: ask `sizeWith` before each `add`
 */
final class AggregateBuilder(maxRecordBytes: Int) {
  import AggregateBuilder._
  import AggregatedRecord._

  private val partitionKeys = new TextTable[String](PartitionKeyTag, identity)
  private val hashKeys = new TextTable[HashKey](HashKeyTag, _.toString)
  private val records = new ProtobufBytes
  private lazy val md5 = MessageDigest.getInstance("MD5")

  private var first = Option.empty[PutEntry]
  private var added = 0
  private var bytes = 0L
  private var messageBytes = 0L

  /** Records added. */
  def count: Int = added

  /** Bytes of the record as it is now, data and partition key, as limits count; 0 of none. */
  def size: Long = bytes

  /** What `size` would be with one more. */
  def sizeWith(entry: PutEntry): Long = {
    val aggregate = EnvelopeBytes + messageBytes + growth(entry)
    if (added > 0 || isWrapped(entry, aggregate)) aggregate else plainSize(entry)
  }

  /** The entry's data must not change until `result`. */
  def add(entry: PutEntry): Unit = {
    bytes = sizeWith(entry)
    messageBytes += growth(entry)
    partitionKeys.add(entry.partitionKey)
    entry.explicitHashKey.foreach(hashKeys.add)
    if (added == 0) first = Some(entry) // perhaps it stays alone: large data are not copied
    else {
      if (added == 1) first.foreach(write)
      write(entry)
    }
    added += 1
  }

  /**
   * The record, and the builder is empty. An aggregate lies in the shard of its first record: the
   * partition key is `a` and the explicit hash key that of the first, or the MD5 of its key.
   *
   * @throws NoSuchElementException where nothing was added
   */
  def result(): PutEntry = {
    val entry = first.getOrElse(throw new NoSuchElementException("No record was added."))
    val made =
      if (added == 1 && !isWrapped(entry, EnvelopeBytes + messageBytes)) entry
      else {
        if (added == 1) write(entry)
        PutEntry(PartitionKey, envelope(), Some(entry.hashKey))
      }
    clear()
    made
  }

  private def clear(): Unit = {
    partitionKeys.clear()
    hashKeys.clear()
    records.clear()
    first = None
    added = 0
    bytes = 0
    messageBytes = 0
  }

  /** @param aggregate the size of an aggregate of this record alone */
  private def isWrapped(entry: PutEntry, aggregate: Long): Boolean =
    isMarked(entry.data, 0, entry.data.length) && aggregate <= maxRecordBytes

  /** How many bytes longer the message were. */
  private def growth(entry: PutEntry): Long = {
    val tables = partitionKeys.growth(entry.partitionKey) + (entry.explicitHashKey match {
      case Some(key) => hashKeys.growth(key)
      case None => 0
    })
    tables.toLong + TagBytes + ProtobufBytes.spanLength(bodyLength(entry))
  }

  private def bodyLength(entry: PutEntry): Int = {
    val hashKeyLength = entry.explicitHashKey match {
      case Some(key) => indexLength(hashKeys.index(key))
      case None => 0
    }
    indexLength(partitionKeys.index(entry.partitionKey)) + hashKeyLength +
      TagBytes + ProtobufBytes.spanLength(entry.data.length)
  }

  private def indexLength(index: Int): Int = TagBytes + ProtobufBytes.varintLength(index)

  private def write(entry: PutEntry): Unit = {
    records.varint(RecordTag)
    records.varint(bodyLength(entry))
    records.varint(PartitionKeyIndexTag)
    records.varint(partitionKeys.index(entry.partitionKey))
    entry.explicitHashKey.foreach { key =>
      records.varint(HashKeyIndexTag)
      records.varint(hashKeys.index(key))
    }
    records.varint(DataTag)
    records.span(entry.data)
  }

  private def envelope(): Array[Byte] = {
    val messageEnd = MarkBytes + partitionKeys.length + hashKeys.length + records.length
    val data = new Array[Byte](messageEnd + DigestBytes)
    System.arraycopy(Mark, 0, data, 0, MarkBytes)
    records.copyTo(data, hashKeys.copyTo(data, partitionKeys.copyTo(data, MarkBytes)))
    md5.update(data, MarkBytes, messageEnd - MarkBytes)
    md5.digest(data, messageEnd, DigestBytes)
    data
  }
}

private object AggregateBuilder {

  /** Of every aggregate, as the Kinesis Producer Library has it. */
  val PartitionKey = "a"

  private val TagBytes = 1

  /** What an aggregate has beyond its message. */
  private val EnvelopeBytes =
    AggregatedRecord.MarkBytes + AggregatedRecord.DigestBytes + PartitionKey.length.toLong

  private val Mark = Array(0xf3, 0x89, 0x9a, 0xc2).map(_.toByte)

  private def plainSize(entry: PutEntry): Long =
    entry.data.length.toLong + entry.partitionKey.getBytes(UTF_8).length
}
