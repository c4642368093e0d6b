package sparkkinesis.spark.deadletter

import java.io.{FileNotFoundException, IOException, InterruptedIOException}
import java.nio.channels.ClosedByInterruptException
import java.util.concurrent.ConcurrentHashMap

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.apache.spark.util.SerializableConfiguration

import sparkkinesis.client.options.OptionException
import sparkkinesis.sink.DeadLetterOptions
import sparkkinesis.spark.errors.ConnectorError

/**
 * The folder of the dead letters of a query, or of a batch write. Travels to executors.
 *
 * Tasks write into a staging folder that readers of the path do not see. When Spark commits a
 * batch, the driver moves the files of the successful attempts to `queryId=.../batchId=...`, all at
 * once, and replaces the files of an earlier run of that batch. So each bad row is there once, even
 * if Spark repeats batches and tasks.
 *
 * @param root option `deadLetterPath`
 * @param queryId the same in each run of a query; another one in each run of a batch write, so that
 *   runs at the same time do not share a staging folder
 * @param name of the published folder, if it is not the `queryId`: the same in each run of a batch
 *   write, which then replaces the files of an earlier run
 */
private[spark] final case class DeadLetterFolder(
    root: String,
    queryId: String,
    conf: SerializableConfiguration,
    name: Option[String] = None
) {

  /** @param batch of a streaming query; none in a batch write */
  def staging(batch: Option[Long]): Path =
    new Path(root, s"_staging/$queryId-${batch.fold("batch")(_.toString)}")

  /** The files of successful attempts, before the move. */
  def ready(batch: Option[Long]): Path = staging(batch).suffix("-ready")

  /** The folder of a batch. Spark's readers derive partition columns from one folder per value. */
  def published(batch: Option[Long]): Path =
    new Path(
      root,
      s"queryId=${name.getOrElse(queryId)}/batchId=${batch.fold(DeadLetterFolder.Null)(_.toString)}"
    )

  /** Checks, once per driver, whether the path can be a folder. */
  def check(): Unit = if (!DeadLetterFolder.checked.contains(root)) accessing { conf =>
    val path = new Path(root)
    val found =
      try Some(path.getFileSystem(conf).getFileStatus(path))
      catch { case _: FileNotFoundException => None }
    require(found.forall(_.isDirectory), s"$root is a file")
    DeadLetterFolder.checked.add(root): Unit
  }

  /** Runs an action on the file system. An error names the path and a remedy. */
  def accessing[A](action: Configuration => A): A =
    try action(conf.value)
    catch {
      case e: InterruptedIOException => throw e
      case e: ClosedByInterruptException => throw e
      case e: IOException => throw unwritable(e)
    }

  /** Throws for calls of the file system that return `false` instead of an exception. */
  def require(isRight: Boolean, otherwise: => String): Unit =
    if (!isRight) throw new IOException(otherwise)

  private def unwritable(e: IOException): ConnectorError = {
    val error = ConnectorError(
      DeadLetterFolder.Unwritable,
      s"The sink cannot keep dead letters in $root (option 'deadLetterPath'): " +
        s"${e.getClass.getSimpleName}: ${e.getMessage}. Set the option to a folder that driver " +
        "and executors may write to, or fix the permissions of this one."
    )
    error.setStackTrace(e.getStackTrace)
    error
  }
}

private[spark] object DeadLetterFolder {
  val Unwritable = "KINESIS_DEAD_LETTERS_UNWRITABLE"

  /**
   * Checks the syntax of the path, without calling the file system.
   *
   * @param queryId the same in each run of a query; another one in each run of a batch write
   * @param conf Hadoop configuration of the session
   * @param name of a batch write, the same in each of its runs, if it has one
   * @throws OptionException if the path cannot name a folder
   */
  def of(
      options: DeadLetterOptions,
      queryId: String,
      conf: Configuration,
      name: Option[String]
  ): DeadLetterFolder = {
    val path = qualified(options.path, conf)
    DeadLetterFolder(path, queryId, new SerializableConfiguration(conf), name)
  }

  /** A complete path, because executors may have another default file system or working folder. */
  private def qualified(text: String, conf: Configuration): String =
    try {
      val path = new Path(text)
      if (Option(path.toUri.getUserInfo).exists(_.contains(':')))
        throw invalid(
          "holds a password. Remove it, and set credentials in the Hadoop configuration."
        )
      path.getFileSystem(conf).makeQualified(path).toString
    } catch {
      case e: OptionException => throw e
      case e @ (_: IOException | _: IllegalArgumentException) =>
        throw invalid(
          s"is '$text': expected a folder on a file system that Spark knows (${e.getMessage}). " +
            "Correct the path, or add the jar of the file system to Spark."
        )
    }

  private def invalid(problem: String) =
    new OptionException(OptionException.InvalidOption, s"Option 'deadLetterPath' $problem")

  private val checked = ConcurrentHashMap.newKeySet[String]()

  /** Spark's readers understand this name as null. */
  private val Null = "__HIVE_DEFAULT_PARTITION__"
}
