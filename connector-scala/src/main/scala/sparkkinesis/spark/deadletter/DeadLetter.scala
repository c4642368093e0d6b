package sparkkinesis.spark.deadletter

import java.io.{IOException, OutputStream, OutputStreamWriter}
import java.nio.charset.StandardCharsets.UTF_8

import scala.concurrent.duration.FiniteDuration
import scala.util.Random

import com.fasterxml.jackson.core.JsonFactory
import org.apache.hadoop.fs.Path
import org.slf4j.LoggerFactory

import sparkkinesis.sink.lane.ExpiredRecord
import sparkkinesis.spark.errors.ConnectorError

/**
 * The dead letters of one task attempt, on an executor. The file exists from the first dead letter.
 * No other attempt has the same file name.
 *
 * @param batch of a streaming query; none in a batch write
 */
private[spark] final class DeadLetterFile(
    folder: DeadLetterFolder,
    batch: Option[Long],
    partitionId: Int,
    random: Random
) {
  private var writer = Option.empty[JsonLetters]
  private lazy val name = f"part-$partitionId%05d-${random.nextLong()}%016x.json"
  private lazy val file = new Path(folder.staging(batch), name)

  /** @throws ConnectorError if the path is not writable */
  def add(letter: DeadLetter): Unit = folder.accessing { conf =>
    if (writer.isEmpty) writer = Some(new JsonLetters(file.getFileSystem(conf).create(file, true)))
    writer.foreach(_.write(letter, partitionId))
  }

  /** Completes the file. Returns its name, if there is one. */
  def commit(): Option[String] = writer.map { open =>
    folder.accessing(_ => open.close())
    name
  }

  /** Deletes the file. Only logs a failure, so that the error of the task shows. */
  def abort(): Unit = writer.foreach { open =>
    writer = None
    try
      folder.accessing { conf =>
        try open.close()
        finally file.getFileSystem(conf).delete(file, false): Unit
      }
    catch {
      case e @ (_: IOException | _: ConnectorError) =>
        DeadLetterFile.log.warn(s"Could not delete $file. No reader of the path sees it.", e)
    }
  }
}

private[spark] object DeadLetterFile {
  private val log = LoggerFactory.getLogger(classOf[DeadLetterFile])
}

/**
 * Writes one line of JSON per row, with nulls. `data` is in Base64, like binary columns in Spark's
 * JSON.
 */
private final class JsonLetters(out: OutputStream) {
  private val json = new JsonFactory()
    .createGenerator(new OutputStreamWriter(out, UTF_8))
    .setRootValueSeparator(null)

  def write(letter: DeadLetter, partitionId: Int): Unit = {
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

  /** Completes the file. */
  def close(): Unit = json.close()
}

/**
 * A row that is not written, kept so that the user can fix it and write it again.
 *
 * @param stream name or ARN of the row's stream
 * @param row number of the row in its partition, from 1; none if the sink accepted it at first
 * @param reason stable name of the reason, such as `NULL_DATA`
 * @param message the reason as text
 * @param attempts number of requests that contained the row
 * @param mayBeWritten whether the row may be in the stream
 */
private[spark] final case class DeadLetter(
    stream: Option[String],
    row: Option[Long],
    reason: String,
    message: String,
    data: Option[Array[Byte]],
    partitionKey: Option[String],
    explicitHashKey: Option[String],
    attempts: Int = 0,
    mayBeWritten: Boolean = false
)

private[spark] object DeadLetter {

  /**
   * The dead letter of a record that its shard did not take in time. The record may have been part
   * of an aggregate.
   *
   * @param isRepeated whether another attempt may have written the row
   */
  def late(record: ExpiredRecord, timeout: FiniteDuration, isRepeated: Boolean): DeadLetter =
    DeadLetter(
      Some(record.stream.toString),
      None,
      "DELIVERY_TIMEOUT",
      s"${problem(record, timeout)} The last error was: ${record.lastError}",
      Some(record.entry.data),
      Some(record.entry.partitionKey),
      record.entry.explicitHashKey.map(_.toString),
      record.attempts,
      record.mayBeWritten || isRepeated
    )

  private def problem(record: ExpiredRecord, timeout: FiniteDuration): String =
    if (record.attempts > 0)
      s"Shard ${record.shard} did not accept the record within $timeout (deliveryTimeout)."
    else
      s"The record waited $timeout (deliveryTimeout) for shard ${record.shard}, which accepted " +
        "nothing. No request contained the record."
}
