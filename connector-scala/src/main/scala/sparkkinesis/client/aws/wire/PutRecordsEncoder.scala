package sparkkinesis.client.aws.wire

import java.io.{ByteArrayInputStream, InputStream}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

import sparkkinesis.model.{PutEntry, StreamRef}

/**
 * Writes a `PutRecords` request in CBOR into one array, which copies the data of each record once.
 * The SDK creates several objects per record and copies its body as it grows.
 */
private[aws] object PutRecordsEncoder {

  /**
   * The body that the SDK would write. `None` if the SDK must write it: for more than 64 MiB, which
   * is far above the limit of the service.
   */
  def encode(stream: StreamRef, entries: Seq[PutEntry]): Option[EncodedBody] = {
    var size = OtherBytes
    entries.foreach(size += _.size + OtherBytesOfEntry)
    if (size > MaxBytes) None
    else {
      val out = new EncodedBody(size.toInt)
      out.put(BeginMap)
      out.text(Records)
      out.put(BeginList)
      entries.foreach(write(out, _))
      out.put(End)
      stream match {
        case StreamRef.ByName(name) => member(out, "StreamName", name.name)
        case StreamRef.ByArn(arn) => member(out, "StreamARN", arn.toString)
      }
      out.put(End)
      Some(out)
    }
  }

  private def write(out: EncodedBody, entry: PutEntry): Unit = {
    out.put(BeginMap)
    out.text(Data)
    out.span(Bytes, entry.data)
    entry.explicitHashKey.foreach { key =>
      out.text(HashKey)
      out.text(key.toString.getBytes(UTF_8))
    }
    out.text(Key)
    out.text(entry.partitionKey.getBytes(UTF_8))
    out.put(End)
  }

  private def member(out: EncodedBody, name: String, value: String): Unit = {
    out.text(name.getBytes(UTF_8))
    out.text(value.getBytes(UTF_8))
  }

  private val Records = "Records".getBytes(UTF_8)
  private val Data = "Data".getBytes(UTF_8)
  private val HashKey = "ExplicitHashKey".getBytes(UTF_8)
  private val Key = "PartitionKey".getBytes(UTF_8)

  // The first byte of an item. Maps and lists have no length, and end with `End`.
  private val BeginMap = 0xbf
  private val BeginList = 0x9f
  private val End = 0xff
  private val Bytes = 0x40

  /** The stream's name or ARN, and what frames the records. */
  private val OtherBytes = 512L

  /** The names of the members, their lengths, and an explicit hash key. */
  private val OtherBytesOfEntry = 100L

  private val MaxBytes = 64L * 1024 * 1024
}

/**
 * The body of a request, in the array that it was written to.
 *
 * @param maxSize must suffice
 */
private[aws] final class EncodedBody(maxSize: Int) {
  import EncodedBody._

  private val bytes = new Array[Byte](maxSize)
  private var end = 0

  def size: Int = end

  def stream(): InputStream = new ByteArrayInputStream(bytes, 0, end)

  def toByteArray: Array[Byte] = Arrays.copyOf(bytes, end)

  private[wire] def put(byte: Int): Unit = {
    bytes(end) = byte.toByte
    end += 1
  }

  /** @param utf8 the text's bytes */
  private[wire] def text(utf8: Array[Byte]): Unit = span(Text, utf8)

  /** Writes the length, in as few bytes as possible, and the content. */
  private[wire] def span(kind: Int, content: Array[Byte]): Unit = {
    val length = content.length
    val lengthBytes =
      if (length < 24) 0 else if (length < 0x100) 1 else if (length < 0x10000) 2 else 4
    lengthBytes match {
      case 0 => put(kind + length)
      case 1 => put(kind + 24)
      case 2 => put(kind + 25)
      case _ => put(kind + 26)
    }
    var left = lengthBytes
    while (left > 0) {
      left -= 1
      put(length >>> 8 * left)
    }
    System.arraycopy(content, 0, bytes, end, length)
    end += length
  }
}

private object EncodedBody {
  private val Text = 0x60
}
