package sparkkinesis.source.store

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.zip.CRC32C

import scala.collection.mutable

import sparkkinesis.model.PackedRecords

/**
 * A page as two arrays of bytes: plain data, which needs no class to be read.
 *
 * @param index a checksum, and the place of each record in `content`
 * @param content the content of the page's records. Shared with the page, never modified.
 */
private[sparkkinesis] final class PageBytes(val index: Array[Byte], val content: Array[Byte]) {
  import PageBytes._

  /** The records; `None` if the bytes are damaged. */
  def records: Option[PackedRecords] =
    if (index.length < HeaderBytes || ByteBuffer.wrap(index).getInt != checksum(index, content))
      None
    else Some(decoded)

  private def decoded: PackedRecords = {
    val in = ByteBuffer.wrap(index, ChecksumBytes, index.length - ChecksumBytes)
    val types = Vector.fill(in.getInt)(typeFrom(in))
    val count = in.getInt
    val builder = new PackedRecords.Builder(content, count)
    var record = 0
    while (record < count) {
      builder.data(in.getInt, in.getInt)
      builder.number(in.getInt, in.getInt)
      val (keyBegin, keyEnd) = (in.getInt, in.getInt)
      if (keyBegin >= 0) builder.key(keyBegin, keyEnd)
      builder.add(in.getLong, types(in.getInt))
      record += 1
    }
    builder.result()
  }
}

private[sparkkinesis] object PageBytes {
  private val ChecksumBytes = 4
  private val HeaderBytes = ChecksumBytes + 8 // and two counts
  private val RecordBytes = 6 * 4 + 8 + 4

  def of(records: PackedRecords): PageBytes = {
    val types = encryptionTypes(records)
    val names = types.map(_.fold(Array.emptyByteArray)(_.getBytes(UTF_8))).toVector
    val size = HeaderBytes + names.map(_.length + 4).sum + records.length * RecordBytes
    val out = ByteBuffer.allocate(size)
    out.putInt(0).putInt(names.size)
    names.foreach(name => out.putInt(name.length).put(name))
    out.putInt(records.length)
    var record = 0
    while (record < records.length) {
      span(out, records.dataBegin(record), records.dataLength(record))
      span(out, records.numberBegin(record), records.numberLength(record))
      span(out, records.keyBegin(record), records.keyLength(record))
      out
        .putLong(records.arrivalMillis(record))
        .putInt(types.indexOf(records.encryptionType(record)))
      record += 1
    }
    out.putInt(0, checksum(out.array, records.content))
    new PageBytes(out.array, records.content)
  }

  private def span(out: ByteBuffer, begin: Int, length: Int): Unit =
    out.putInt(begin).putInt(begin + length): Unit

  /** Few: a page has the same type in all of its records, or in most. */
  private def encryptionTypes(records: PackedRecords): mutable.ArrayBuffer[Option[String]] = {
    val types = mutable.ArrayBuffer.empty[Option[String]]
    var record = 0
    while (record < records.length) {
      val name = records.encryptionType(record)
      if (!types.contains(name)) types += name
      record += 1
    }
    types
  }

  /** Reads the type: `None` if the text is empty, which no service sends as a name. */
  private def typeFrom(in: ByteBuffer): Option[String] = {
    val name = new Array[Byte](in.getInt)
    in.get(name)
    if (name.isEmpty) None else Some(new String(name, UTF_8))
  }

  /** The checksum of the index and the content, without its own field. */
  private def checksum(index: Array[Byte], content: Array[Byte]): Int = {
    val sum = new CRC32C
    sum.update(index, ChecksumBytes, index.length - ChecksumBytes)
    sum.update(content)
    sum.getValue.toInt
  }
}
