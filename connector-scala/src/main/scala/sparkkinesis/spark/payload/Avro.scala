package sparkkinesis.spark.payload

import java.io.{ByteArrayInputStream, IOException}
import java.math.BigInteger
import java.util.concurrent.ConcurrentHashMap

import scala.annotation.tailrec
import scala.jdk.CollectionConverters._

import org.apache.avro.LogicalTypes.{Decimal, LocalTimestampMillis, TimestampMillis}
import org.apache.avro.Schema.Type._
import org.apache.avro.generic.GenericDatumReader
import org.apache.avro.io.DecoderFactory
import org.apache.avro.{AvroRuntimeException, AvroTypeException, Schema}

/** Checks that data are one value of an Avro schema, and nothing else. `from_avro` does not. */
private[spark] object Avro {
  private val MaxSchemas = 1000 // a query may take schemas from a column
  private val MaxMillis = Long.MaxValue / 1000
  private val MaxDepth = 200 // a type that contains itself could overflow the stack
  private val readers = new ConcurrentHashMap[(String, String), GenericDatumReader[AnyRef]]

  /**
   * @param writer the schema of the data
   * @param reader the schema that the value is converted to
   * @throws org.apache.avro.AvroRuntimeException if a schema is invalid
   */
  def problem(data: Array[Byte], writer: String, reader: String): Option[Reason] = {
    if (readers.size >= MaxSchemas) readers.clear()
    val datum = readers.computeIfAbsent((writer, reader), { case (w, r) => newReader(w, r) })
    try {
      val walk = new Walk(data)
      walk.skip(datum.getSchema, MaxDepth)
      if (walk.left > 0) Some("NOT_AVRO: bytes are left over")
      else {
        datum.read(null, DecoderFactory.get.binaryDecoder(data, null))
        None
      }
    } catch {
      case e: AvroTypeException => Some(s"INCOMPATIBLE: ${e.getMessage}")
      case _: IOException | _: AvroRuntimeException | _: IndexOutOfBoundsException =>
        Some("NOT_AVRO: the bytes do not fit the schema")
    }
  }

  private def newReader(writer: String, reader: String) =
    new GenericDatumReader[AnyRef](parsed(writer), parsed(reader))

  /** Like `from_avro`, it takes defaults that have the wrong type. */
  private def parsed(schema: String) = new Schema.Parser().setValidateDefaults(false).parse(schema)

  /**
   * A walk over a value, to do before Avro reads it: Avro allocates what lengths and counts claim,
   * and jumps where the sizes of blocks point.
   */
  private final class Walk(data: Array[Byte]) {
    private val bytes = new ByteArrayInputStream(data)
    private val decoder = DecoderFactory.get.directBinaryDecoder(bytes, null)
    private var items = 0L

    def left: Int = bytes.available

    /** @throws java.io.IOException if the bytes do not fit the schema */
    def skip(schema: Schema, depth: Int): Unit = {
      check(depth > 0)
      schema.getType match {
        case NULL =>
        case BOOLEAN => skip(1)
        case INT => decoder.readInt(): Unit
        case LONG => skipLong(schema)
        case FLOAT => skip(4)
        case DOUBLE => skip(8)
        case FIXED => skipBytes(schema, schema.getFixedSize.toLong)
        case STRING | BYTES => skipBytes(schema, decoder.readLong())
        case ENUM => index(schema.getEnumSymbols.size): Unit
        case UNION => skip(schema.getTypes.get(index(schema.getTypes.size)), depth - 1)
        case RECORD => schema.getFields.asScala.foreach(it => skip(it.schema, depth - 1))
        case ARRAY => skipBlocks(() => skip(schema.getElementType, depth - 1))
        case MAP =>
          skipBlocks { () =>
            skip(decoder.readLong())
            skip(schema.getValueType, depth - 1)
          }
      }
    }

    private def check(holds: Boolean): Unit = if (!holds) throw new IOException("not of the schema")

    private def skip(length: Long): Unit = {
      check(length >= 0 && length <= left)
      bytes.skip(length): Unit
    }

    /** Spark fails for milliseconds that are too many as microseconds. */
    private def skipLong(schema: Schema): Unit = {
      val found = decoder.readLong()
      schema.getLogicalType match {
        case _: TimestampMillis | _: LocalTimestampMillis =>
          check(-MaxMillis <= found && found <= MaxMillis)
        case _ =>
      }
    }

    /** Spark fails for a decimal without bytes, and cuts one with more digits than the schema. */
    private def skipBytes(schema: Schema, length: Long): Unit = schema.getLogicalType match {
      case decimal: Decimal =>
        check(length > 0 && length <= left)
        val digits = new BigInteger(bytes.readNBytes(length.toInt))
        check(digits.abs.compareTo(BigInteger.TEN.pow(decimal.getPrecision)) < 0)
      case _ => skip(length)
    }

    private def index(size: Int): Int = {
      val found = decoder.readInt()
      check(found >= 0 && found < size)
      found
    }

    /** A negative count is followed by the size of the block in bytes. */
    @tailrec private def skipBlocks(item: () => Unit): Unit = {
      val count = decoder.readLong()
      val size = if (count < 0) Some(decoder.readLong()) else None
      val start = left
      // Items take a byte at least, but for null. So a value has no more items than bytes.
      check(count.abs >= 0 && count.abs <= data.length - items)
      items += count.abs
      (0L until count.abs).foreach(_ => item())
      check(size.forall(_ == start - left))
      if (count != 0) skipBlocks(item)
    }
  }
}
