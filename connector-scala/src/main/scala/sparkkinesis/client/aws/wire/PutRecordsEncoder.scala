package sparkkinesis.client.aws.wire

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, InputStream}
import java.nio.charset.StandardCharsets.UTF_8

import com.fasterxml.jackson.core.io.SerializedString
import com.fasterxml.jackson.dataformat.cbor.{CBORFactory, CBORGenerator}

import sparkkinesis.model.{PutEntry, StreamRef}

/**
 * Writes a `PutRecords` request in CBOR into one array, which copies the data of each record once.
 * The SDK creates several objects per record and copies its body as it grows.
 */
private[aws] object PutRecordsEncoder {

  /**
   * The body that the SDK would write. `None` if the SDK must write it: for a key with half of a
   * surrogate pair, and for more than 64 MiB, which is far above the limit of the service.
   */
  def encode(stream: StreamRef, entries: Seq[PutEntry]): Option[EncodedBody] = {
    val size = entries.foldLeft(OtherBytes)(_ + maxSize(_))
    if (size > MaxBytes || entries.exists(entry => isBroken(entry.partitionKey))) None
    else {
      val body = new EncodedBody(size.toInt)
      val out = Factory.createGenerator(body)
      out.writeStartObject()
      out.writeFieldName(Records)
      out.writeStartArray()
      entries.foreach(write(out, _))
      out.writeEndArray()
      stream match {
        case StreamRef.ByName(name) => out.writeStringField("StreamName", name.name)
        case StreamRef.ByArn(arn) => out.writeStringField("StreamARN", arn.toString)
      }
      out.writeEndObject()
      out.close()
      Some(body)
    }
  }

  private def write(out: CBORGenerator, entry: PutEntry): Unit = {
    out.writeStartObject()
    out.writeFieldName(Data)
    out.writeBinary(entry.data)
    entry.explicitHashKey.foreach { key =>
      out.writeFieldName(HashKey)
      out.writeString(key.toString)
    }
    out.writeFieldName(Key)
    out.writeString(entry.partitionKey)
    out.writeEndObject()
  }

  /** UTF-8 has at most three bytes per character of a Java string. */
  private def maxSize(entry: PutEntry): Long =
    entry.data.length.toLong + 3L * entry.partitionKey.length + OtherBytesOfEntry

  /** UTF-8 cannot express half of a surrogate pair. */
  private def isBroken(key: String): Boolean =
    key.exists(Character.isSurrogate) && new String(key.getBytes(UTF_8), UTF_8) != key

  private val Factory = new CBORFactory
  private val Records = new SerializedString("Records")
  private val Data = new SerializedString("Data")
  private val HashKey = new SerializedString("ExplicitHashKey")
  private val Key = new SerializedString("PartitionKey")

  /** The stream's name or ARN, and what frames the records. */
  private val OtherBytes = 512L

  /** The names of the members, their lengths, and an explicit hash key. */
  private val OtherBytesOfEntry = 100L

  private val MaxBytes = 64L * 1024 * 1024
}

/** The body of a request, in the array that it was written to. */
private[aws] final class EncodedBody(maxSize: Int) extends ByteArrayOutputStream(maxSize) {
  def stream(): InputStream = new ByteArrayInputStream(buf, 0, count)
}
