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

  def apply(records: IndexedSeq[Record]): PackedRecords = {
    val keys = records.map(_.partitionKey.map(_.getBytes(UTF_8)))
    val dataEnds = ends(records.map(_.data.length))
    val textEnds = ends(records.indices.flatMap { index =>
      Seq(records(index).sequenceNumber.text.length, keys(index).fold(0)(_.length))
    })
    val data = new Array[Byte](dataEnds.lastOption.getOrElse(0))
    val texts = new Array[Byte](textEnds.lastOption.getOrElse(0))
    records.indices.foreach { index =>
      val record = records(index)
      put(record.data, data, dataEnds(index))
      put(record.sequenceNumber.text.getBytes(ISO_8859_1), texts, textEnds(2 * index))
      keys(index).foreach(put(_, texts, textEnds(2 * index + 1)))
    }
    new PackedRecords(
      data,
      dataEnds,
      texts,
      textEnds,
      keys.map(_.nonEmpty).toArray,
      records.map(_.arrivalMillis).toArray,
      records.map(_.encryptionType).toArray
    )
  }

  private def ends(lengths: IndexedSeq[Int]): Array[Int] = lengths.scanLeft(0)(_ + _).tail.toArray

  private def put(bytes: Array[Byte], into: Array[Byte], end: Int): Unit =
    System.arraycopy(bytes, 0, into, end - bytes.length, bytes.length)
}
