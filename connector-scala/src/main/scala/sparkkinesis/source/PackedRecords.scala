package sparkkinesis.source

import java.nio.charset.StandardCharsets.{ISO_8859_1, UTF_8}

import sparkkinesis.model._

/**
 * The records of a page in a handful of arrays. Pages wait for their batch: a million small objects
 * that live so long cost the garbage collector more than all the rest of reading.
 *
 * @param dataEnds of each record in `data`
 * @param textEnds of each record's sequence number and partition key in `texts`, two a record
 */
final class PackedRecords private (
    data: Array[Byte],
    dataEnds: Array[Int],
    texts: Array[Byte],
    textEnds: Array[Int],
    hasKey: Array[Boolean],
    arrivals: Array[Long],
    encryptionTypes: Array[Option[String]]
) extends IndexedSeq[Record] {
  override def length: Int = dataEnds.length

  override def apply(index: Int): Record = {
    val keyBegin = textEnds(2 * index)
    val key =
      if (hasKey(index))
        Some(new String(texts, keyBegin, textEnds(2 * index + 1) - keyBegin, UTF_8))
      else None
    Record(
      sequenceNumber(index),
      key,
      java.util.Arrays
        .copyOfRange(data, if (index == 0) 0 else dataEnds(index - 1), dataEnds(index)),
      arrivals(index),
      encryptionTypes(index)
    )
  }

  def sequenceNumber(index: Int): SequenceNumber = {
    val begin = if (index == 0) 0 else textEnds(2 * index - 1)
    SequenceNumber(new String(texts, begin, textEnds(2 * index) - begin, ISO_8859_1))
  }

  /** That the arrays hold. */
  def bytes: Long = data.length.toLong + texts.length + length * PackedRecords.FixedBytes
}

object PackedRecords {

  /** Three ends, a flag, an arrival and a reference. */
  private val FixedBytes = 25L

  /** Two passes over primitives, to measure and to copy: this runs once a record. */
  def apply(records: IndexedSeq[Record]): PackedRecords = {
    val count = records.size
    val keys = new Array[Array[Byte]](count)
    val (dataEnds, textEnds) = (new Array[Int](count), new Array[Int](2 * count))
    var (dataEnd, textEnd, index) = (0, 0, 0)
    while (index < count) {
      val record = records(index)
      keys(index) = record.partitionKey.fold(NoKey)(_.getBytes(UTF_8))
      dataEnd += record.data.length
      dataEnds(index) = dataEnd
      textEnd += record.sequenceNumber.text.length
      textEnds(2 * index) = textEnd
      textEnd += keys(index).length
      textEnds(2 * index + 1) = textEnd
      index += 1
    }
    new PackedRecords(
      pack(count, dataEnd, dataEnds(_), records(_).data),
      dataEnds,
      pack(
        2 * count,
        textEnd,
        textEnds(_),
        part =>
          if (part % 2 == 1) keys(part / 2)
          else records(part / 2).sequenceNumber.text.getBytes(ISO_8859_1)
      ),
      textEnds,
      keys.map(_ ne NoKey),
      Array.tabulate(count)(records(_).arrivalMillis),
      Array.tabulate(count)(records(_).encryptionType)
    )
  }

  private def pack(
      count: Int,
      size: Int,
      end: Int => Int,
      part: Int => Array[Byte]
  ): Array[Byte] = {
    val all = new Array[Byte](size)
    (0 until count).foreach { index =>
      val bytes = part(index)
      System.arraycopy(bytes, 0, all, end(index) - bytes.length, bytes.length)
    }
    all
  }

  private val NoKey = Array.emptyByteArray
}
