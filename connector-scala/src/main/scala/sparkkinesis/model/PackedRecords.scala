package sparkkinesis.model

import java.nio.charset.StandardCharsets.{ISO_8859_1, UTF_8}

import sparkkinesis.compat._

/**
 * The records of a page in a few arrays. A page waits for its batch, and a million small objects
 * that live so long cost the garbage collector more than the rest of reading.
 *
 * @param content the data, sequence numbers (ASCII) and partition keys (UTF-8) of all records.
 *   Shared, never modified.
 * @param spans six indexes in `content` per record: begin and end of data, sequence number and key
 * @param first index of the first record of this sequence in the arrays
 */
private[sparkkinesis] final class PackedRecords private (
    val content: Array[Byte],
    spans: Array[Int],
    arrivals: Array[Long],
    encryptionTypes: Array[Option[String]],
    first: Int,
    override val length: Int
) extends IndexedSeq[Record] {
  import PackedRecords._

  override def apply(index: Int): Record = Record(
    sequenceNumber(index),
    Option.when(hasKey(index))(text(keyBegin(index), keyLength(index))),
    data(index),
    arrivalMillis(index),
    encryptionType(index)
  )

  /** A copy of the data. */
  def data(index: Int): Array[Byte] = {
    val begin = dataBegin(index)
    java.util.Arrays.copyOfRange(content, begin, begin + dataLength(index))
  }

  def dataBegin(index: Int): Int = spans(at(index))

  def dataLength(index: Int): Int = spans(at(index) + 1) - spans(at(index))

  /** Total size of the data of all records. */
  def dataBytes: Long = {
    var (sum, index) = (0L, 0)
    while (index < length) {
      sum += dataLength(index)
      index += 1
    }
    sum
  }

  def sequenceNumber(index: Int): SequenceNumber =
    SequenceNumber(new String(content, numberBegin(index), numberLength(index), ISO_8859_1))

  /** Compares a record's sequence number as an integer, without creating an object. */
  def compareNumber(index: Int, other: SequenceNumber): Int = {
    val digits = other.digits
    val end = numberBegin(index) + numberLength(index)
    var begin = numberBegin(index)
    while (begin < end && content(begin) == '0') begin += 1
    var result = Integer.compare(end - begin, digits.length)
    var at = 0
    while (result == 0 && at < digits.length) {
      result = Integer.compare(content(begin + at).toInt, digits.charAt(at).toInt)
      at += 1
    }
    result
  }

  def numberBegin(index: Int): Int = spans(at(index) + Number)

  def numberLength(index: Int): Int = spans(at(index) + Number + 1) - numberBegin(index)

  def hasKey(index: Int): Boolean = keyBegin(index) >= 0

  /** Negative if the record has no partition key. */
  def keyBegin(index: Int): Int = spans(at(index) + Key)

  def keyLength(index: Int): Int = spans(at(index) + Key + 1) - keyBegin(index)

  def arrivalMillis(index: Int): Long = arrivals(checked(index))

  /** The latest arrival time, which need not be that of the last record. */
  def lastArrivalMillis: Option[Long] = Option.when(nonEmpty) {
    var (latest, index) = (arrivalMillis(0), 1)
    while (index < length) {
      latest = math.max(latest, arrivalMillis(index))
      index += 1
    }
    latest
  }

  def encryptionType(index: Int): Option[String] = encryptionTypes(checked(index))

  /** A part of this sequence, which shares the arrays. */
  override def slice(from: Int, until: Int): PackedRecords = {
    val begin = math.min(math.max(from, 0), length)
    val end = math.min(math.max(until, begin), length)
    new PackedRecords(content, spans, arrivals, encryptionTypes, first + begin, end - begin)
  }

  override def take(count: Int): PackedRecords = slice(0, count)

  /** The records that arrived at one time or later, and before another. Shares the data. */
  def arrived(since: Long, before: Long): PackedRecords = {
    def isWanted(index: Int) = arrivalMillis(index) >= since && arrivalMillis(index) < before
    val begin = countWhile(isWanted)
    if (begin == length) this
    else {
      val wanted = new Builder(content, length)
      (0 until length).filter(isWanted).foreach(wanted.add(this, _, 0))
      wanted.result()
    }
  }

  /** Number of records before the first one that violates the condition. */
  def countWhile(condition: Int => Boolean): Int = {
    var index = 0
    while (index < length && condition(index)) index += 1
    index
  }

  /** Size of the arrays, even if this sequence is a part of them. */
  def bytes: Long = content.length + arrivals.length * FixedBytes

  private def at(index: Int): Int = checked(index) * SpansOfRecord

  private def checked(index: Int): Int = first + java.util.Objects.checkIndex(index, length)

  private def text(begin: Int, size: Int): String = new String(content, begin, size, UTF_8)
}

private[sparkkinesis] object PackedRecords {
  private val Number = 2
  private val Key = 4
  private val SpansOfRecord = 6

  /** Bytes per record in the other arrays: six indexes, an arrival time and a reference. */
  private val FixedBytes = 36L

  /**
   * Bytes per record besides its data: key, sequence number, their framing in a response, and
   * spans. An estimate for planning.
   */
  val UsualOverhead = 220L

  /** Bytes per record besides its data, for a record with all optional members. */
  val MostOverhead = 300L

  val Empty: PackedRecords = new Builder(Array.emptyByteArray, 0).result()

  /** Packs records. Returns the same sequence if it is packed already. */
  def apply(records: IndexedSeq[Record]): PackedRecords = records match {
    case packed: PackedRecords => packed
    case others => copied(others)
  }

  /** Copies successive pages into one. Returns a single page itself. */
  def joined(pages: Seq[PackedRecords]): PackedRecords =
    if (pages.size == 1) pages.head
    else {
      val content = new Array[Byte](pages.map(_.content.length).sum)
      val builder = new Builder(content, pages.map(_.length).sum)
      val begins = pages.map(_.content.length).scanLeft(0)(_ + _)
      pages.zip(begins).foreach { case (page, begin) =>
        System.arraycopy(page.content, 0, content, begin, page.content.length)
        page.indices.foreach(builder.add(page, _, begin))
      }
      builder.result()
    }

  private def copied(records: IndexedSeq[Record]): PackedRecords = {
    val keys = records.map(_.partitionKey.map(_.getBytes(UTF_8)))
    val size = records.indices.foldLeft(0) { (sum, i) =>
      sum + records(i).data.length + records(i).sequenceNumber.text.length +
        keys(i).fold(0)(_.length)
    }
    val content = new Array[Byte](size)
    val builder = new Builder(content, records.size)
    var end = 0
    def put(part: Array[Byte]): (Int, Int) = {
      System.arraycopy(part, 0, content, end, part.length)
      end += part.length
      (end - part.length, end)
    }
    records.indices.foreach { i =>
      val record = records(i)
      val (dataBegin, dataEnd) = put(record.data)
      builder.data(dataBegin, dataEnd)
      val (numberBegin, numberEnd) = put(record.sequenceNumber.text.getBytes(ISO_8859_1))
      builder.number(numberBegin, numberEnd)
      keys(i).map(put).foreach { case (keyBegin, keyEnd) => builder.key(keyBegin, keyEnd) }
      builder.add(record.arrivalMillis, record.encryptionType)
    }
    builder.result()
  }

  /**
   * Packs records that are in an array already. Set the spans of a record, then call `add`.
   *
   * @param content must not be modified from now on
   * @param expected estimated number of records
   */
  final class Builder(content: Array[Byte], expected: Int) {
    private var spans = new Array[Int](expected * SpansOfRecord)
    private var arrivals = new Array[Long](expected)
    private var encryptionTypes = new Array[Option[String]](expected)
    private var count = 0
    private val current = new Array[Int](SpansOfRecord)
    clear()

    def data(begin: Int, end: Int): Unit = set(0, begin, end)

    def number(begin: Int, end: Int): Unit = set(Number, begin, end)

    def key(begin: Int, end: Int): Unit = set(Key, begin, end)

    /** Adds a record. It has no partition key without `key`, and empty data without `data`. */
    def add(arrivalMillis: Long, encryptionType: Option[String]): Unit = {
      if (count == arrivals.length) resize(math.max(16, count * 2))
      System.arraycopy(current, 0, spans, count * SpansOfRecord, SpansOfRecord)
      arrivals(count) = arrivalMillis
      encryptionTypes(count) = encryptionType
      count += 1
      clear()
    }

    /** @param end of the data of a record, from their begin and end */
    def mapData(end: (Int, Int) => Int): Unit = {
      var at = 0
      while (at < count * SpansOfRecord) {
        spans(at + 1) = end(spans(at), spans(at + 1))
        at += SpansOfRecord
      }
    }

    /** Adds a record of other records, whose content begins there in this content. */
    private[PackedRecords] def add(from: PackedRecords, index: Int, begin: Int): Unit = {
      def span(at: Int, length: Int)(put: (Int, Int) => Unit): Unit =
        put(begin + at, begin + at + length)
      span(from.dataBegin(index), from.dataLength(index))(data)
      span(from.numberBegin(index), from.numberLength(index))(number)
      if (from.hasKey(index)) span(from.keyBegin(index), from.keyLength(index))(key)
      add(from.arrivalMillis(index), from.encryptionType(index))
    }

    def result(): PackedRecords = {
      if (count < arrivals.length) resize(count)
      new PackedRecords(content, spans, arrivals, encryptionTypes, 0, count)
    }

    private def set(part: Int, begin: Int, end: Int): Unit = {
      current(part) = begin
      current(part + 1) = end
    }

    private def clear(): Unit = {
      java.util.Arrays.fill(current, 0)
      set(Key, -1, -1)
    }

    private def resize(records: Int): Unit = {
      spans = java.util.Arrays.copyOf(spans, records * SpansOfRecord)
      arrivals = java.util.Arrays.copyOf(arrivals, records)
      encryptionTypes = java.util.Arrays.copyOf(encryptionTypes, records)
    }
  }
}
