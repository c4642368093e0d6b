package sparkkinesis.spark.deadletter

import org.apache.hadoop.fs.{FileSystem, Path}
import org.slf4j.LoggerFactory

import org.apache.spark.internal.io.FileCommitProtocol.TaskCommitMessage
import org.apache.spark.sql.connector.write.WriterCommitMessage
import org.apache.spark.sql.execution.datasources.{ExecutedWriteSummary, WriteTaskResult}

import sparkkinesis.spark.errors.ConnectorError

/** Publishes the dead letters of a batch, on the driver, when Spark knows which attempts count. */
private[spark] final class DeadLetterCommit(folder: DeadLetterFolder, batch: Option[Long]) {

  /**
   * Publishes the files that the messages name, and no others. Without files, it costs a streaming
   * query one call of the file system, and a batch write none.
   *
   * After a crash at any point, Spark runs the batch again.
   */
  def publish(messages: Array[WriterCommitMessage]): Unit = {
    val files = messages.toSeq.flatMap(DeadLetterCommit.fileOf)
    if (files.nonEmpty || batch.nonEmpty) onFileSystem { fs =>
      fs.delete(folder.published(batch), true)
      if (files.nonEmpty) move(fs, files)
    }
  }

  /** Deletes the files of the batch. Only logs a failure, so that the error of the batch shows. */
  def abort(): Unit =
    try onFileSystem(deleteStaging)
    catch {
      case e: ConnectorError =>
        DeadLetterCommit.log.warn(
          "Could not delete files of dead letters. No reader of the path sees them.",
          e
        )
    }

  private def move(fs: FileSystem, files: Seq[String]): Unit = {
    val ready = folder.ready(batch)
    fs.delete(ready, true)
    folder.require(fs.mkdirs(ready), s"cannot create $ready")
    files.foreach { file =>
      rename(fs, new Path(folder.staging(batch), file), new Path(ready, file))
    }
    val published = folder.published(batch)
    folder.require(fs.mkdirs(published.getParent), s"cannot create ${published.getParent}")
    rename(fs, ready, published)
    deleteStaging(fs)
    DeadLetterCommit.log.warn(s"Kept the bad rows of ${files.size} tasks in $published")
  }

  private def rename(fs: FileSystem, from: Path, to: Path): Unit =
    folder.require(fs.rename(from, to), s"cannot move $from to $to")

  private def deleteStaging(fs: FileSystem): Unit = {
    fs.delete(folder.staging(batch), true)
    fs.delete(folder.ready(batch), true): Unit
  }

  private def onFileSystem(action: FileSystem => Unit): Unit =
    folder.accessing(conf => action(new Path(folder.root).getFileSystem(conf)))
}

private[spark] object DeadLetterCommit {
  private val log = LoggerFactory.getLogger(classOf[DeadLetterCommit])

  /**
   * The message of a task to the driver: the name of its file, if it has one. Uses Spark's classes,
   * because the driver deserializes it without the jars that a session added.
   */
  def message(file: Option[String]): WriterCommitMessage = file match {
    case Some(name) =>
      new WriteTaskResult(new TaskCommitMessage(name), ExecutedWriteSummary(Set.empty, Nil))
    case None => null // Spark's convention for an empty message
  }

  private def fileOf(message: WriterCommitMessage): Option[String] = message match {
    case result: WriteTaskResult => Some(result.commitMsg.obj.toString)
    case _ => None
  }
}
