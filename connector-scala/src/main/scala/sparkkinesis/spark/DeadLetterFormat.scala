package sparkkinesis.spark

import java.io.Closeable
import java.nio.charset.StandardCharsets.UTF_8

import com.fasterxml.jackson.core.{JsonFactory, JsonGenerator}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.parquet.example.data.simple.SimpleGroupFactory
import org.apache.parquet.hadoop.ParquetFileWriter
import org.apache.parquet.hadoop.example.ExampleParquetWriter
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.hadoop.util.HadoopOutputFile
import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.{MessageType, MessageTypeParser}

/** A file of dead letters that is being written; whole once it is closed. */
private[spark] trait LetterWriter extends Closeable {
  def write(letter: DeadLetter, partitionId: Int): Unit
}

/**
 * How dead letters are written. Spark's own file formats are not for others to call: their methods
 * differ from version to version.
 */
private[spark] sealed abstract class DeadLetterFormat(val name: String) extends Serializable {

  /** Begins a file, in place of one of that name. */
  def open(file: Path, conf: Configuration): LetterWriter
}

private[spark] object DeadLetterFormat {
  val All: Seq[DeadLetterFormat] = Seq(Json, Parquet)

  /** A line a row; `data` in Base64, as Spark's JSON has binaries. Nulls are written, too. */
  case object Json extends DeadLetterFormat("json") {
    override def open(file: Path, conf: Configuration): LetterWriter = {
      val out = file.getFileSystem(conf).create(file, true)
      val json = new JsonFactory().createGenerator(new java.io.OutputStreamWriter(out, UTF_8))
      json.setRootValueSeparator(null)
      new JsonLetters(json)
    }
  }

  /** Snappy is native code, so it is none: dead letters are few. */
  case object Parquet extends DeadLetterFormat("parquet") {
    override def open(file: Path, conf: Configuration): LetterWriter =
      new ParquetLetters(HadoopOutputFile.fromPath(file, conf), conf)
  }

  private final class JsonLetters(json: JsonGenerator) extends LetterWriter {
    override def write(letter: DeadLetter, partitionId: Int): Unit = {
      json.writeStartObject()
      text("stream", letter.stream)
      json.writeNumberField("partitionId", partitionId)
      json.writeNumberField("row", letter.row)
      json.writeStringField("reason", letter.reason)
      json.writeStringField("message", letter.message)
      letter.data.fold(json.writeNullField("data"))(json.writeBinaryField("data", _))
      text("partitionKey", letter.partitionKey)
      text("explicitHashKey", letter.explicitHashKey)
      json.writeEndObject()
      json.writeRaw('\n')
    }

    private def text(name: String, value: Option[String]): Unit =
      value.fold(json.writeNullField(name))(json.writeStringField(name, _))

    override def close(): Unit = json.close()
  }

  private val ParquetSchema: MessageType = MessageTypeParser.parseMessageType(
    """message deadLetter {
      |  optional binary stream (STRING);
      |  required int32 partitionId;
      |  required int64 row;
      |  required binary reason (STRING);
      |  required binary message (STRING);
      |  optional binary data;
      |  optional binary partitionKey (STRING);
      |  optional binary explicitHashKey (STRING);
      |}""".stripMargin
  )

  /** Held in memory, until they are written. */
  private val RowGroupBytes = 8L * 1024 * 1024

  private final class ParquetLetters(file: HadoopOutputFile, conf: Configuration)
      extends LetterWriter {
    private val groups = new SimpleGroupFactory(ParquetSchema)
    private val writer = ExampleParquetWriter
      .builder(file)
      .withType(ParquetSchema)
      .withConf(conf)
      .withWriteMode(ParquetFileWriter.Mode.OVERWRITE)
      .withCompressionCodec(CompressionCodecName.UNCOMPRESSED)
      .withRowGroupSize(RowGroupBytes)
      .build()

    override def write(letter: DeadLetter, partitionId: Int): Unit = {
      val group = groups.newGroup()
      def text(name: String, value: Option[String]): Unit = value.foreach(group.add(name, _))
      text("stream", letter.stream)
      group.add("partitionId", partitionId)
      group.add("row", letter.row)
      group.add("reason", letter.reason)
      group.add("message", letter.message)
      letter.data.foreach(data => group.add("data", Binary.fromConstantByteArray(data)))
      text("partitionKey", letter.partitionKey)
      text("explicitHashKey", letter.explicitHashKey)
      writer.write(group)
    }

    override def close(): Unit = writer.close()
  }
}
