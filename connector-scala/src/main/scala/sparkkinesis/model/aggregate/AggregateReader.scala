package sparkkinesis.model.aggregate

import java.security.MessageDigest
import java.util.Arrays

import sparkkinesis.model.ServiceLimits

/**
 * Reads the sub-records of an aggregated record of the Kinesis Producer Library: `F3 89 9A C2`, a
 * protobuf message, and the MD5 of the message. It gives the places of the sub-records in the bytes
 * and copies nothing. Reusable for one record after the other; not thread-safe.
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
 * If one sub-record is malformed, the whole record is a plain record. Tags and unknown fields are
 * skipped. A sub-record that looks like an aggregate is data. Keys may be any text of at most 256
 * characters, the limit of Kinesis: a hash key need not be a number, and is not compared with the
 * hash keys of the shard.
 *
 * Sub-records share keys, so that a few bytes can stand for a long row. A record that would expand
 * to more than [[AggregateReader.MostExpansion]] times its size is a plain record, too: otherwise,
 * one hostile record of 10 MiB would be terabytes of rows.
 */
private[sparkkinesis] final class AggregateReader {
  import AggregateReader._

  private val fields = new ProtobufReader
  private val record = new ProtobufReader
  private val partitionKey = new ProtobufReader
  private val hashKey = new ProtobufReader
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
   * Opens the data of a record, before its first sub-record. Never throws.
   *
   * @param bytes must not change while sub-records are read
   * @return number of sub-records, at least 1; 0 if the record is not an aggregate
   */
  def open(bytes: Array[Byte], begin: Int, length: Int): Int =
    if (isMarked(bytes, begin, length)) {
      content = bytes
      end = begin + length - DigestBytes
      val count = if (hasDigest(begin + MarkBytes)) survey(begin + MarkBytes) else 0
      fields.open(content, begin + MarkBytes, end)
      count
    } else 0

  /** Moves to the next of the sub-records that `open` counted. */
  def next(): Unit = {
    while (fields.next() && fields.tag != RecordTag) fields.skip()
    readRecord()
    findKeys()
  }

  private def findKeys(): Unit = {
    partitionKey.open(content, partitionKeys(partitionKeyIndex), end)
    partitionKey.span()
    if (hasHashKey) {
      hashKey.open(content, hashKeys(hashKeyIndex), end)
      hashKey.span()
    }
  }

  /** Index of the sub-record's partition key, in UTF-8. */
  def partitionKeyBegin: Int = partitionKey.begin

  def partitionKeyLength: Int = partitionKey.end - partitionKey.begin

  /** Whether it has an explicit hash key. Otherwise, `hashKeyBegin` is undefined. */
  def hasHashKey: Boolean = hashKeyIndex != Missing

  def hashKeyBegin: Int = hashKey.begin

  def hashKeyLength: Int = hashKey.end - hashKey.begin

  def dataBegin: Int = firstOfData

  /** May be 0. */
  def dataLength: Int = behindData - firstOfData

  private def hasDigest(message: Int): Boolean = {
    md5.update(content, message, end - message)
    md5.digest(digest, 0, DigestBytes)
    Arrays.equals(digest, 0, DigestBytes, content, end, end + DigestBytes)
  }

  /** Reads the whole message once. Returns the number of sub-records, or 0 if it is malformed. */
  private def survey(message: Int): Int =
    try {
      fields.open(content, message, end)
      partitionKeys.clear()
      hashKeys.clear()
      var count = 0
      var data = 0L
      var (lastPartitionKey, lastHashKey) = (Missing, Missing)
      while (fields.next()) fields.tag match {
        case PartitionKeyTag => partitionKeys.add(fields)
        case HashKeyTag => hashKeys.add(fields)
        case RecordTag =>
          readRecord()
          lastPartitionKey = math.max(lastPartitionKey, partitionKeyIndex)
          lastHashKey = math.max(lastHashKey, hashKeyIndex)
          count += 1
          data += dataLength
        case _ => fields.skip()
      }
      val isWhole = lastPartitionKey < partitionKeys.size && lastHashKey < hashKeys.size
      val keys = partitionKeys.longest + hashKeys.longest
      val most = MostExpansion * (end - message).toLong
      if (isWhole && (data + count * keys.toLong <= most || expanded(message) <= most)) count else 0
    } catch { case ProtobufReader.Malformed => 0 }

  /** Bytes of all sub-records with their keys. */
  private def expanded(message: Int): Long = {
    fields.open(content, message, end)
    var bytes = 0L
    while (fields.next())
      if (fields.tag == RecordTag) {
        readRecord()
        findKeys()
        bytes += dataLength + partitionKeyLength + (if (hasHashKey) hashKeyLength else 0)
      } else fields.skip()
    bytes
  }

  /** Does not compare an index with its table, because the tables may follow the records. */
  private def readRecord(): Unit = {
    fields.span()
    record.open(content, fields.begin, fields.end)
    partitionKeyIndex = Missing
    hashKeyIndex = Missing
    firstOfData = Missing
    while (record.next()) record.tag match { // the last of repeated fields counts
      case PartitionKeyIndexTag => partitionKeyIndex = index()
      case HashKeyIndexTag => hashKeyIndex = index()
      case DataTag =>
        record.span()
        firstOfData = record.begin
        behindData = record.end
      case _ => record.skip()
    }
    if (partitionKeyIndex == Missing || firstOfData == Missing) throw ProtobufReader.Malformed
  }

  private def index(): Int = {
    val read = record.varint()
    if (read < 0 || read > NoIndex) NoIndex else read.toInt
  }
}

private[aggregate] object AggregateReader {
  val Mark: Array[Byte] = Array(0xf3, 0x89, 0x9a, 0xc2).map(_.toByte)
  val MarkBytes = 4
  val DigestBytes = 16

  /**
   * No aggregate of a producer comes near: with empty data and a key of 256 ASCII characters, a
   * sub-record of six bytes expands 43 times.
   */
  val MostExpansion = 64

  private val Missing = -1

  /** Larger than any table. */
  private val NoIndex = Int.MaxValue

  // Number of the field, then three bits for its type: 0 for a number, 2 for bytes.
  final val PartitionKeyTag = 0x0a
  final val HashKeyTag = 0x12
  final val RecordTag = 0x1a
  final val PartitionKeyIndexTag = 0x08
  final val HashKeyIndexTag = 0x10
  final val DataTag = 0x1a

  /** Whether the bytes start like an aggregate and are long enough. */
  def isMarked(bytes: Array[Byte], begin: Int, length: Int): Boolean =
    length > MarkBytes + DigestBytes &&
      bytes(begin) == 0xf3.toByte && bytes(begin + 1) == 0x89.toByte &&
      bytes(begin + 2) == 0x9a.toByte && bytes(begin + 3) == 0xc2.toByte

  private val Usual = 16 // texts in one aggregate

  /** More texts in one aggregate take memory until the next one only. */
  private val MostKept = 1024

  /** Index of each text of a table in the message, at its length. */
  private final class Table {
    private var begins = new Array[Int](Usual)
    private var count = 0
    private var longestText = 0

    def size: Int = count

    /** Bytes of the longest text; 0 if there is none. */
    def longest: Int = longestText

    def apply(index: Int): Int = begins(index)

    def clear(): Unit = {
      if (begins.length > MostKept) begins = new Array[Int](Usual)
      count = 0
      longestText = 0
    }

    /** Adds the next text of the message. */
    def add(fields: ProtobufReader): Unit = {
      if (count == begins.length) begins = Arrays.copyOf(begins, count * 2)
      begins(count) = fields.end
      count += 1
      fields.text(ServiceLimits.PartitionKeyCharacters)
      longestText = math.max(longestText, fields.end - fields.begin)
    }
  }
}
