package sparkkinesis.model.aggregate

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest
import java.util.{Arrays, HashMap}

import sparkkinesis.model.{HashKey, PutEntry}

/**
 * Builds aggregated records like the Kinesis Producer Library (KPL), for [[AggregateReader]] and
 * other consumers. The bytes are those of the KPL: both tables, then the records in their order.
 * Reusable after `result`. Not thread-safe.
 *
 * A single record is written without an aggregate, unless its data start like an aggregate (`F3 89
 * 9A C2`). Consumers would deaggregate such data, but not inside another aggregate, because they
 * deaggregate once. Therefore it is written as an aggregate of one record, so that one record
 * written is one record read. (The KPL does not do this.) If that exceeds the limit of the stream,
 * no aggregate can contain the record, and it is always written without one.
 *
 * With a shared hash key, all records of an aggregate have the hash key of the first one: so a
 * reshard leaves none outside of its shard, where KCL would drop the whole aggregate. With tags,
 * the hash key is shared, and a single record is an aggregate, too.
 *
 * @param maxRecordBytes limit of the stream for data and partition key. The builder does not
 *   enforce it: call `sizeWith` before each `add`
 * @param sharesHashKey whether the records lose the hash keys of their own
 * @param tags for the first record of each aggregate
 */
private[sparkkinesis] final class AggregateBuilder(
    maxRecordBytes: Int,
    sharesHashKey: Boolean = false,
    tags: Option[AggregateTags] = None
) {
  import AggregateBuilder._
  import AggregateReader._

  private val partitionKeys = new KeyTable[String](PartitionKeyTag, identity)
  private val hashKeys = new KeyTable[HashKey](HashKeyTag, _.toString)
  private val records = new ProtobufWriter
  private lazy val md5 = MessageDigest.getInstance("MD5")

  private val isShared = sharesHashKey || tags.nonEmpty
  private var first = Option.empty[PutEntry]
  private var shared = Option.empty[HashKey]
  private var added = 0
  private var bytes = 0L
  private var messageBytes = 0L
  private var tagBegin = 0 // in `records`

  /** Number of records added. */
  def count: Int = added

  /** Size of the result, as the limits count: data and partition key. 0 without records. */
  def size: Long = bytes

  /** The value of `size` after adding the record. */
  def sizeWith(entry: PutEntry): Long = {
    val aggregate = EnvelopeBytes + messageBytes + growth(entry)
    if (added > 0 || isWrapped(entry, aggregate)) aggregate else entry.size.toLong
  }

  /** The data of the record must not change until `result`. */
  def add(entry: PutEntry): Unit = {
    if (isShared && shared.isEmpty) shared = Some(entry.hashKey)
    bytes = sizeWith(entry)
    messageBytes += growth(entry)
    partitionKeys.add(entry.partitionKey)
    hashKey(entry).foreach(hashKeys.add)
    if (added == 0) first = Some(entry) // not copied yet, because it may remain the only one
    else {
      if (added == 1) first.foreach(write)
      write(entry)
    }
    added += 1
  }

  /** The hash key that the record has in an aggregate. */
  private def hashKey(entry: PutEntry): Option[HashKey] =
    if (isShared) shared.orElse(Some(entry.hashKey)) else entry.explicitHashKey

  /**
   * Returns the record and clears the builder. An aggregate belongs to the shard of its first
   * record: its partition key is `a`, and its explicit hash key is the hash key of the first
   * record.
   *
   * @throws NoSuchElementException if nothing was added
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
    shared = None
    added = 0
    bytes = 0
    messageBytes = 0
  }

  /** @param aggregate size of an aggregate that contains only this record */
  private def isWrapped(entry: PutEntry, aggregate: Long): Boolean =
    tags.nonEmpty || isMarked(entry.data, 0, entry.data.length) && aggregate <= maxRecordBytes

  /** Number of bytes that the record adds to the message. */
  private def growth(entry: PutEntry): Long = {
    val tables = partitionKeys.growth(entry.partitionKey) + (hashKey(entry) match {
      case Some(key) => hashKeys.growth(key)
      case None => 0
    })
    tables.toLong + TagBytes + ProtobufWriter.spanLength(bodyLength(entry, isFirst = added == 0))
  }

  private def bodyLength(entry: PutEntry, isFirst: Boolean): Int = {
    val tagLength = if (isFirst) tags.fold(0)(_.length) else 0
    val hashKeyLength = hashKey(entry) match {
      case Some(key) => indexLength(hashKeys.index(key))
      case None => 0
    }
    indexLength(partitionKeys.index(entry.partitionKey)) + hashKeyLength +
      TagBytes + ProtobufWriter.spanLength(entry.data.length) + tagLength
  }

  private def indexLength(index: Int): Int = TagBytes + ProtobufWriter.varintLength(index)

  private def write(entry: PutEntry): Unit = {
    val isFirst = records.length == 0
    records.varint(RecordTag)
    records.varint(bodyLength(entry, isFirst))
    records.varint(PartitionKeyIndexTag)
    records.varint(partitionKeys.index(entry.partitionKey))
    hashKey(entry).foreach { key =>
      records.varint(HashKeyIndexTag)
      records.varint(hashKeys.index(key))
    }
    records.varint(DataTag)
    records.span(entry.data)
    if (isFirst) tags.foreach { it =>
      tagBegin = records.length
      records.raw(it.blank)
    }
  }

  private def envelope(): Array[Byte] = {
    val messageEnd = MarkBytes + partitionKeys.length + hashKeys.length + records.length
    val data = new Array[Byte](messageEnd + DigestBytes)
    System.arraycopy(Mark, 0, data, 0, MarkBytes)
    val recordsBegin = hashKeys.copyTo(data, partitionKeys.copyTo(data, MarkBytes))
    records.copyTo(data, recordsBegin)
    tags.foreach(it => System.arraycopy(it.next(), 0, data, recordsBegin + tagBegin, it.length))
    md5.update(data, MarkBytes, messageEnd - MarkBytes)
    md5.digest(data, messageEnd, DigestBytes)
    data
  }
}

private[aggregate] object AggregateBuilder {

  /** The partition key of every aggregate, as in the KPL. */
  val PartitionKey = "a"

  private val TagBytes = 1

  /** Bytes of an aggregate besides its message. */
  private val EnvelopeBytes =
    AggregateReader.MarkBytes + AggregateReader.DigestBytes + PartitionKey.length.toLong
}

/**
 * The table of partition keys or of explicit hash keys in an aggregate. It contains each key once.
 * It caches the last key, because a record is measured before it is added.
 *
 * @param tag tag of the table's field
 * @param text the form in which a key is written
 */
private final class KeyTable[K <: AnyRef](tag: Int, text: K => String) {
  import KeyTable._

  private var indexes = new HashMap[K, Integer]
  private val fields = new ProtobufWriter
  private var last: AnyRef = NoKey
  private var lastIndex = 0
  private var lastText = Array.emptyByteArray

  /** Number of bytes of all keys added. */
  def length: Int = fields.length

  /** Index of the key in the table, or the index that it would get. */
  def index(key: K): Int = {
    lookUp(key)
    lastIndex
  }

  /** Number of bytes that the key adds to the table. 0 if the table contains it. */
  def growth(key: K): Int = {
    lookUp(key)
    if (isNew) TagBytes + ProtobufWriter.spanLength(lastText.length) else 0
  }

  /** Adds the key unless the table contains it. */
  def add(key: K): Unit = {
    lookUp(key)
    if (isNew) {
      indexes.put(key, lastIndex)
      fields.varint(tag)
      fields.span(lastText)
    }
  }

  /** @return index after the last byte copied */
  def copyTo(target: Array[Byte], begin: Int): Int = fields.copyTo(target, begin)

  def clear(): Unit = {
    if (indexes.size > KeptKeys) indexes = new HashMap[K, Integer] else indexes.clear()
    fields.clear()
    last = NoKey
  }

  private def isNew: Boolean = lastIndex == indexes.size

  private def lookUp(key: K): Unit = if (key ne last) {
    val found = indexes.getOrDefault(key, Absent)
    lastIndex = if (found < 0) indexes.size else found
    if (isNew) lastText = text(key).getBytes(UTF_8)
    last = key
  }
}

private object KeyTable {
  private val NoKey = new AnyRef
  private val Absent = Integer.valueOf(-1)
  private val TagBytes = 1

  /**
   * A larger table is replaced instead of cleared, which would take time in proportion to its size.
   */
  private val KeptKeys = 512
}

/** The user records in a record of [[AggregateBuilder]]. */
private[sparkkinesis] object UserRecords {

  /**
   * The user records in their order, each with a copy of its data. A record that is not our
   * aggregate, which has the key `a` and an explicit hash key, is itself the only user record. This
   * includes an aggregate that the user wrote as a plain record.
   */
  def of(entry: PutEntry): Vector[PutEntry] = {
    val aggregate = new AggregateReader
    val count =
      if (isOurs(entry)) aggregate.open(entry.data, 0, entry.data.length) else 0
    if (count == 0) Vector(entry) else Vector.fill(count)(next(aggregate, entry.data))
  }

  private def isOurs(entry: PutEntry) =
    entry.partitionKey == AggregateBuilder.PartitionKey && entry.explicitHashKey.isDefined

  private def next(aggregate: AggregateReader, data: Array[Byte]): PutEntry = {
    aggregate.next()
    def text(begin: Int, length: Int) = new String(data, begin, length, UTF_8)
    val hashKey =
      if (aggregate.hasHashKey)
        HashKey.parse(text(aggregate.hashKeyBegin, aggregate.hashKeyLength))
      else None
    PutEntry(
      text(aggregate.partitionKeyBegin, aggregate.partitionKeyLength),
      data.slice(aggregate.dataBegin, aggregate.dataBegin + aggregate.dataLength),
      hashKey
    )
  }
}

/**
 * A Kinesis record without a user record: an aggregate with an entry in its table of partition keys
 * and no sub-record. Consumers that deaggregate find nothing in it.
 */
private[sparkkinesis] object AggregateMarker {
  private val data: Array[Byte] = {
    val message = new ProtobufWriter
    message.varint(AggregateReader.PartitionKeyTag)
    message.span("spark-kinesis-marker".getBytes(UTF_8))
    val bytes = message.toArray
    AggregateReader.Mark ++ bytes ++ MessageDigest.getInstance("MD5").digest(bytes)
  }

  /** A marker for the shard that has this hash key. */
  def entry(hashKey: HashKey): PutEntry =
    PutEntry(AggregateBuilder.PartitionKey, data, Some(hashKey))

  /** Whether these bytes are a marker. */
  def is(bytes: Array[Byte], begin: Int, length: Int): Boolean =
    length == data.length && Arrays.equals(bytes, begin, begin + length, data, 0, length)
}
