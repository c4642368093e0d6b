package sparkkinesis.client.aws.wire

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, InputStream}
import java.nio.charset.StandardCharsets.UTF_8

import com.fasterxml.jackson.core.io.SerializedString
import com.fasterxml.jackson.dataformat.cbor.{CBORFactory, CBORGenerator}

import sparkkinesis.model.{PutEntry, StreamRef}

/**
 * Writes a `PutRecords` request in CBOR into one array. The SDK creates several objects per record
 * and copies its body as it grows.
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
    val key = entry.partitionKey.getBytes(UTF_8) // Jackson would refuse half of a surrogate pair
    out.writeUTF8String(key, 0, key.length)
    out.writeEndObject()
  }

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
private[aws] final class EncodedBody(expected: Int) extends ByteArrayOutputStream(expected) {
  def stream(): InputStream = new ByteArrayInputStream(buf, 0, count)
}
