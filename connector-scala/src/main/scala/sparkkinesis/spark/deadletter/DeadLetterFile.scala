package sparkkinesis.spark.deadletter

import java.io.IOException

import scala.util.Random

import org.apache.hadoop.fs.Path
import org.slf4j.LoggerFactory

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
  private var writer = Option.empty[DeadLetterWriter]
  private lazy val name =
    f"part-$partitionId%05d-${random.nextLong()}%016x.${folder.format.name}"
  private lazy val file = new Path(folder.staging(batch), name)

  /** @throws ConnectorError if the path is not writable */
  def add(letter: DeadLetter): Unit = folder.accessing { conf =>
    if (writer.isEmpty) writer = Some(DeadLetterWriter.open(folder.format, file, conf))
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
