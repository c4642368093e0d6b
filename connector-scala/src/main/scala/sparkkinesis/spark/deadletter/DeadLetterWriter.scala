package sparkkinesis.spark.deadletter

import java.io.{Closeable, OutputStream, OutputStreamWriter}
import java.nio.charset.StandardCharsets.UTF_8

import com.fasterxml.jackson.core.JsonFactory
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.parquet.example.data.simple.SimpleGroupFactory
import org.apache.parquet.hadoop.ParquetFileWriter
import org.apache.parquet.hadoop.example.ExampleParquetWriter
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.hadoop.util.HadoopOutputFile
import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.{MessageType, MessageTypeParser}

import sparkkinesis.sink.DeadLetterFormat

/** Writes a file of dead letters. Closing completes the file. */
private[spark] trait DeadLetterWriter extends Closeable {
  def write(letter: DeadLetter, partitionId: Int): Unit
}

/**
 * The file formats of dead letters. Spark's own writers are internal, and differ between its
 * versions.
 */
private[spark] object DeadLetterWriter {

  /** Creates a file, and replaces a file of that name. */
  def open(format: DeadLetterFormat, file: Path, conf: Configuration): DeadLetterWriter =
    format match {
      case DeadLetterFormat.Json => new JsonLetters(file.getFileSystem(conf).create(file, true))
      case DeadLetterFormat.Parquet =>
        new ParquetLetters(HadoopOutputFile.fromPath(file, conf), conf)
    }

  /**
   * Writes one line of JSON per row, with nulls. `data` is in Base64, like binary columns in
   * Spark's JSON.
   */
  private final class JsonLetters(out: OutputStream) extends DeadLetterWriter {
    private val json = new JsonFactory()
      .createGenerator(new OutputStreamWriter(out, UTF_8))
      .setRootValueSeparator(null)

    override def write(letter: DeadLetter, partitionId: Int): Unit = {
      json.writeStartObject()
      text("stream", letter.stream)
      json.writeNumberField("partitionId", partitionId)
      letter.row.fold(json.writeNullField("row"))(json.writeNumberField("row", _))
      json.writeStringField("reason", letter.reason)
      json.writeStringField("message", letter.message)
      letter.data.fold(json.writeNullField("data"))(json.writeBinaryField("data", _))
      text("partitionKey", letter.partitionKey)
      text("explicitHashKey", letter.explicitHashKey)
      json.writeNumberField("attempts", letter.attempts)
      json.writeBooleanField("mayBeWritten", letter.mayBeWritten)
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
      |  optional int64 row;
      |  required binary reason (STRING);
      |  required binary message (STRING);
      |  optional binary data;
      |  optional binary partitionKey (STRING);
      |  optional binary explicitHashKey (STRING);
      |  required int32 attempts;
      |  required boolean mayBeWritten;
      |}""".stripMargin
  )

  /** The writer holds this much in memory. */
  private val RowGroupBytes = 8L * 1024 * 1024

  /**
   * Writes Parquet without compression, because Spark's codecs are native code and dead letters are
   * few.
   */
  private final class ParquetLetters(file: HadoopOutputFile, conf: Configuration)
      extends DeadLetterWriter {
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
      letter.row.foreach(group.add("row", _))
      group.add("reason", letter.reason)
      group.add("message", letter.message)
      letter.data.foreach(data => group.add("data", Binary.fromConstantByteArray(data)))
      text("partitionKey", letter.partitionKey)
      text("explicitHashKey", letter.explicitHashKey)
      group.add("attempts", letter.attempts)
      group.add("mayBeWritten", letter.mayBeWritten)
      writer.write(group)
    }

    override def close(): Unit = writer.close()
  }
}
