package sparkkinesis.model.aggregate

import java.security.MessageDigest
import java.util.Arrays

/**
 * The sub-records of a record that the Kinesis Producer Library, or one that writes as it does,
 * made of many: `F3 89 9A C2`, a protobuf message, the message's MD5. Tells where in the record's
 * bytes they lie and copies nothing; one object reads many records, one after the other.
 *
 * {{{
 * message AggregatedRecord {
 *   repeated string partition_key_table = 1;
 *   repeated string explicit_hash_key_table = 2;
 *   repeated Record records = 3;
 * }
 * message Record {
 *   required uint64 partition_key_index = 1;
 *   optional uint64 explicit_hash_key_index = 2;
 *   required bytes data = 3;
 *   repeated Tag tags = 4;
 * }
 * }}}
 *
 * All or nothing: where one sub-record cannot be told, the record is a plain one. Tags and fields
 * that nobody knows are skipped. A sub-record may look like an aggregate: it is data. Keys are any
 * text: a hash key need not be a number, and none is compared with the hash keys of the shard.
 */
final class AggregatedRecord {
  import AggregatedRecord._

  private val fields = new ProtobufFields
  private val record = new ProtobufFields
  private val partitionKey = new ProtobufFields
  private val hashKey = new ProtobufFields
  private val partitionKeys = new Table
  private val hashKeys = new Table
  private lazy val md5 = MessageDigest.getInstance("MD5")
  private val digest = new Array[Byte](DigestBytes)

  private var content = Array.emptyByteArray
  private var end = 0
  private var partitionKeyIndex = Missing
  private var hashKeyIndex = Missing
  private var firstOfData = Missing
  private var behindData = Missing

  /**
   * Before the first sub-record of the record whose data these are. No bytes make it fail.
   *
   * @param bytes not to be written to while sub-records are read
   * @return how many sub-records, at least 1; 0 where this is no aggregate
   */
  def open(bytes: Array[Byte], begin: Int, length: Int): Int =
    if (isMarked(bytes, begin, length)) {
      content = bytes
      end = begin + length - DigestBytes
      val count = if (hasDigest(begin + MarkBytes)) survey(begin + MarkBytes) else 0
      fields.open(content, begin + MarkBytes, end)
      count
    } else 0

  /** Comes to the next of the sub-records that `open` has counted. */
  def next(): Unit = {
    while (fields.next() && fields.tag != RecordTag) fields.skip()
    readRecord()
    partitionKey.open(content, partitionKeys(partitionKeyIndex), end)
    partitionKey.span()
    if (hasHashKey) {
      hashKey.open(content, hashKeys(hashKeyIndex), end)
      hashKey.span()
    }
  }

  /** Where the sub-record's own partition key lies, in UTF-8. */
  def partitionKeyBegin: Int = partitionKey.begin

  def partitionKeyLength: Int = partitionKey.end - partitionKey.begin

  /** Whether it has an explicit hash key; only then it lies anywhere. */
  def hasHashKey: Boolean = hashKeyIndex != Missing

  def hashKeyBegin: Int = hashKey.begin

  def hashKeyLength: Int = hashKey.end - hashKey.begin

  def dataBegin: Int = firstOfData

  /** Perhaps 0. */
  def dataLength: Int = behindData - firstOfData

  private def hasDigest(message: Int): Boolean = {
    md5.update(content, message, end - message)
    md5.digest(digest, 0, DigestBytes)
    Arrays.equals(digest, 0, DigestBytes, content, end, end + DigestBytes)
  }

  /** Reads the whole message once: how many sub-records, if all can be told. */
  private def survey(message: Int): Int =
    try {
      fields.open(content, message, end)
      partitionKeys.clear()
      hashKeys.clear()
      var count = 0
      var (lastPartitionKey, lastHashKey) = (Missing, Missing)
      while (fields.next()) fields.tag match {
        case PartitionKeyTag => partitionKeys.add(fields)
        case HashKeyTag => hashKeys.add(fields)
        case RecordTag =>
          readRecord()
          lastPartitionKey = math.max(lastPartitionKey, partitionKeyIndex)
          lastHashKey = math.max(lastHashKey, hashKeyIndex)
          count += 1
        case _ => fields.skip()
      }
      if (lastPartitionKey < partitionKeys.size && lastHashKey < hashKeys.size) count else 0
    } catch { case ProtobufFields.Malformed => 0 }

  /** The tables may come behind the records: an index is compared later. */
  private def readRecord(): Unit = {
    fields.span()
    record.open(content, fields.begin, fields.end)
    partitionKeyIndex = Missing
    hashKeyIndex = Missing
    firstOfData = Missing
    while (record.next()) record.tag match { // of a field said twice, the last holds
      case PartitionKeyIndexTag => partitionKeyIndex = index()
      case HashKeyIndexTag => hashKeyIndex = index()
      case DataTag =>
        record.span()
        firstOfData = record.begin
        behindData = record.end
      case _ => record.skip()
    }
    if (partitionKeyIndex == Missing || firstOfData == Missing) throw ProtobufFields.Malformed
  }

  private def index(): Int = {
    val read = record.varint()
    if (read < 0 || read > NoIndex) NoIndex else read.toInt
  }
}

private object AggregatedRecord {
  val MarkBytes = 4
  val DigestBytes = 16

  private val Missing = -1

  /** No table is so long. */
  private val NoIndex = Int.MaxValue

  // A field's number, three bits of its kind: 0 a number, 2 bytes.
  final val PartitionKeyTag = 0x0a
  final val HashKeyTag = 0x12
  final val RecordTag = 0x1a
  final val PartitionKeyIndexTag = 0x08
  final val HashKeyIndexTag = 0x10
  final val DataTag = 0x1a

  /** Whether an aggregate can begin so. */
  def isMarked(bytes: Array[Byte], begin: Int, length: Int): Boolean =
    length > MarkBytes + DigestBytes &&
      bytes(begin) == 0xf3.toByte && bytes(begin + 1) == 0x89.toByte &&
      bytes(begin + 2) == 0x9a.toByte && bytes(begin + 3) == 0xc2.toByte

  /** Where in the message each text of a table begins, at its length. */
  private final class Table {
    private var begins = new Array[Int](16)
    private var count = 0

    def size: Int = count

    def apply(index: Int): Int = begins(index)

    def clear(): Unit = count = 0

    /** The text that comes next. */
    def add(fields: ProtobufFields): Unit = {
      if (count == begins.length) begins = Arrays.copyOf(begins, count * 2)
      begins(count) = fields.end
      count += 1
      fields.text()
    }
  }
}
