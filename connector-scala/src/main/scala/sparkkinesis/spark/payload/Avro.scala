package sparkkinesis.spark.payload

import java.io.IOException
import java.util.concurrent.ConcurrentHashMap

import org.apache.avro.generic.GenericDatumReader
import org.apache.avro.io.DecoderFactory
import org.apache.avro.{AvroRuntimeException, Schema}

/** Checks that data are one value of an Avro schema, and nothing else. `from_avro` does not. */
private[spark] object Avro {
  private val readers = new ConcurrentHashMap[(String, String), GenericDatumReader[AnyRef]]

  /**
   * @param writer the schema of the data
   * @param reader the schema that the value is converted to
   * @throws org.apache.avro.AvroRuntimeException if a schema is invalid
   */
  def problem(data: Array[Byte], writer: String, reader: String): Option[Reason] = {
    val datum = readers.computeIfAbsent((writer, reader), { case (w, r) => newReader(w, r) })
    try {
      // Skips first: to read strings and arrays would allocate what damaged lengths claim.
      val decoder = DecoderFactory.get.binaryDecoder(data, null)
      GenericDatumReader.skip(datum.getSchema, decoder)
      if (!decoder.isEnd) Some("NOT_AVRO: bytes are left over")
      else {
        datum.read(null, DecoderFactory.get.binaryDecoder(data, decoder))
        None
      }
    } catch {
      case _: IOException | _: AvroRuntimeException | _: IndexOutOfBoundsException =>
        Some("NOT_AVRO: the bytes do not fit the schema")
    }
  }

  private def newReader(writer: String, reader: String) =
    new GenericDatumReader[AnyRef](parsed(writer), parsed(reader))

  private def parsed(schema: String) = new Schema.Parser().parse(schema)
}
