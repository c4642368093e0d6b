package sparkkinesis.simulator.http.wire

import java.io.OutputStream
import java.time.Instant

import com.fasterxml.jackson.core.{JsonFactory, JsonGenerator}
import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.dataformat.cbor.{CBORFactory, CBORGenerator}

/**
 * The format of requests and responses. Both formats have the same structure, and differ in times.
 */
private[http] sealed abstract class WireFormat(val contentType: String, factory: JsonFactory) {
  private val mapper = new ObjectMapper(factory)

  /** Throws `IOException` if the bytes have another format. */
  def parse(bytes: Array[Byte]): JsonNode = mapper.readTree(bytes)

  def generator(out: OutputStream): JsonGenerator = factory.createGenerator(out)

  def instant(node: JsonNode): Instant

  def writeMillis(out: JsonGenerator, millis: Long): Unit

  /** Encoded size of a number of bytes of data. */
  def encodedSize(bytes: Int): Int
}

private[http] object WireFormat {

  /** Times are seconds with a fraction, and data is base64. */
  case object Json extends WireFormat("application/x-amz-json-1.1", new JsonFactory()) {
    override def instant(node: JsonNode): Instant =
      Instant.ofEpochMilli(node.decimalValue.movePointRight(3).longValue)

    override def writeMillis(out: JsonGenerator, millis: Long): Unit =
      out.writeNumber(java.math.BigDecimal.valueOf(millis, 3))

    override def encodedSize(bytes: Int): Int = bytes / 3 * 4 + 4
  }

  /** Times are milliseconds under tag 1, as in AWS's Java SDK, and data is a byte string. */
  case object Cbor extends WireFormat("application/x-amz-cbor-1.1", new CBORFactory()) {
    private val EpochTime = 1

    override def parse(bytes: Array[Byte]): JsonNode = {
      CborTags.check(bytes)
      super.parse(bytes)
    }

    override def instant(node: JsonNode): Instant = Instant.ofEpochMilli(node.longValue)

    override def writeMillis(out: JsonGenerator, millis: Long): Unit = out match {
      case cbor: CBORGenerator =>
        cbor.writeTag(EpochTime)
        cbor.writeNumber(millis)
      case other => throw new IllegalStateException(s"No CBOR generator: ${other.getClass}.")
    }

    override def encodedSize(bytes: Int): Int = bytes
  }

  /** JSON, unless the header names CBOR. */
  def of(contentType: Option[String]): WireFormat =
    if (contentType.exists(_.startsWith(Cbor.contentType))) Cbor else Json
}
