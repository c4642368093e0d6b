package sparkkinesis.spark.deadletter

import java.io.{FileNotFoundException, IOException, InterruptedIOException}
import java.nio.channels.ClosedByInterruptException
import java.util.concurrent.ConcurrentHashMap

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.apache.spark.util.SerializableConfiguration

import sparkkinesis.client.options.OptionException
import sparkkinesis.sink.{DeadLetterFormat, DeadLetterOptions}
import sparkkinesis.spark.errors.ConnectorError

/**
 * Where the dead letters of a query, or of a batch write, are kept. Travels to executors.
 *
 * Tasks write into a folder that readers of the path do not see. When Spark commits a batch, the files
 * of the tasks that count are moved, all at once, to `queryId=.../batchId=...`, in place of what an
 * earlier run of that batch had put there. So a batch that Spark repeats, with retries and speculative
 * copies of its tasks, leaves each bad row once.
 *
 * @param root option `deadLetterPath`
 * @param queryId the same in each run of a query; of a batch write, its own
 */
private[spark] final case class DeadLetterFolder(
    root: String,
    format: DeadLetterFormat,
    queryId: String,
    conf: SerializableConfiguration
) {

  /** @param batch of a streaming query; of a batch write there is none */
  def staging(batch: Option[Long]): Path =
    new Path(root, s"_staging/$queryId-${batch.fold("batch")(_.toString)}")

  /** The files that count, before they are moved. */
  def ready(batch: Option[Long]): Path = staging(batch).suffix("-ready")

  /** A folder for each value, as Spark's readers understand: they make columns of them. */
  def published(batch: Option[Long]): Path =
    new Path(root, s"queryId=$queryId/batchId=${batch.fold(DeadLetterFolder.Null)(_.toString)}")

  /** Looks, once a driver, whether the path can be a folder. */
  def check(): Unit = if (!DeadLetterFolder.checked.contains(root)) accessing { conf =>
    val path = new Path(root)
    val found =
      try Some(path.getFileSystem(conf).getFileStatus(path))
      catch { case _: FileNotFoundException => None }
    require(found.forall(_.isDirectory), s"$root is a file")
    DeadLetterFolder.checked.add(root): Unit
  }

  /** Runs what uses the file system, and says what is wrong with the path where that fails. */
  def accessing[A](action: Configuration => A): A =
    try action(conf.value)
    catch {
      case e: InterruptedIOException => throw e
      case e: ClosedByInterruptException => throw e
      case e: IOException => throw unwritable(e)
    }

  /** For what answers `false` in place of an exception. */
  def require(isRight: Boolean, otherwise: => String): Unit =
    if (!isRight) throw new IOException(otherwise)

  private def unwritable(e: IOException): ConnectorError = {
    val error = ConnectorError(
      DeadLetterFolder.Unwritable,
      s"Bad rows cannot be kept in $root (deadLetterPath): ${e.getClass.getSimpleName}: " +
        s"${e.getMessage}. Name a folder that driver and executors may write to, " +
        "or mend its permissions."
    )
    error.setStackTrace(e.getStackTrace)
    error
  }
}

private[spark] object DeadLetterFolder {
  val Unwritable = "KINESIS_DEAD_LETTERS_UNWRITABLE"

  /**
   * Looks at the path's words only: no file system is asked.
   *
   * @param queryId the same in each run of a query; of a batch write, its own
   * @param conf the session's
   * @throws OptionException where it names no folder there could be
   */
  def of(options: DeadLetterOptions, queryId: String, conf: Configuration): DeadLetterFolder = {
    val path = qualified(options.path, conf)
    DeadLetterFolder(path, options.format, queryId, new SerializableConfiguration(conf))
  }

  /** With file system and folder, which executors might else understand otherwise. */
  private def qualified(text: String, conf: Configuration): String =
    try {
      val path = new Path(text)
      if (Option(path.toUri.getUserInfo).exists(_.contains(':')))
        throw invalid(
          "holds a password: expected a path without. Give credentials in the Hadoop configuration."
        )
      path.getFileSystem(conf).makeQualified(path).toString
    } catch {
      case e: OptionException => throw e
      case e @ (_: IOException | _: IllegalArgumentException) =>
        throw invalid(
          s"is '$text': expected a folder on a file system that Spark knows (${e.getMessage}). " +
            "Mend it, or add the file system's jar to Spark."
        )
    }

  private def invalid(said: String) =
    new OptionException(OptionException.InvalidOption, s"Option 'deadLetterPath' $said")

  private val checked = ConcurrentHashMap.newKeySet[String]()

  /** What Spark's readers take for a null. */
  private val Null = "__HIVE_DEFAULT_PARTITION__"
}
