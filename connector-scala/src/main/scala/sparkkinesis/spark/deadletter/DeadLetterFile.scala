package sparkkinesis.spark.deadletter

import java.io.IOException

import scala.util.Random

import org.apache.hadoop.fs.Path
import org.slf4j.LoggerFactory

import sparkkinesis.spark.errors.ConnectorError

/**
 * The dead letters of one attempt at a task: a file that is there from the first of them on, under a
 * name that no other attempt has.
 *
 * @param batch of a streaming query
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

  /** @throws ConnectorError where the path cannot be written to */
  def add(letter: DeadLetter): Unit = folder.accessing { conf =>
    if (writer.isEmpty) writer = Some(DeadLetterWriter.open(folder.format, file, conf))
    writer.foreach(_.write(letter, partitionId))
  }

  /** @return the file's name, where there is one; it is whole now */
  def commit(): Option[String] = writer.map { open =>
    folder.accessing(_ => open.close())
    name
  }

  /** Leaves nothing; what else went wrong is more important than why it could not. */
  def abort(): Unit = writer.foreach { open =>
    writer = None
    try
      folder.accessing { conf =>
        try open.close()
        finally file.getFileSystem(conf).delete(file, false): Unit
      }
    catch {
      case e @ (_: IOException | _: ConnectorError) =>
        DeadLetterFile.log.warn(s"$file stays behind, where no reader sees it", e)
    }
  }
}

private[spark] object DeadLetterFile {
  private val log = LoggerFactory.getLogger(classOf[DeadLetterFile])
}
