package sparkkinesis.spark.deadletter

import org.apache.hadoop.fs.{FileSystem, Path}
import org.slf4j.LoggerFactory

import org.apache.spark.internal.io.FileCommitProtocol.TaskCommitMessage
import org.apache.spark.sql.connector.write.WriterCommitMessage
import org.apache.spark.sql.execution.datasources.{ExecutedWriteSummary, WriteTaskResult}

import sparkkinesis.spark.errors.ConnectorError

/** What the driver does with the files of a batch, once Spark knows which attempts count. */
private[spark] final class DeadLetterCommit(folder: DeadLetterFolder, batch: Option[Long]) {

  /**
   * Publishes the files that the messages name, and no others. Without any it costs a streaming query
   * one call, and a batch write none: nobody has published anything under its id before.
   *
   * A crash at any point leaves the batch undone for Spark, which then runs it again.
   */
  def publish(messages: Array[WriterCommitMessage]): Unit = {
    val files = messages.toSeq.flatMap(DeadLetterCommit.fileOf)
    if (files.nonEmpty || batch.nonEmpty) onFileSystem { fs =>
      fs.delete(folder.published(batch), true)
      if (files.nonEmpty) move(fs, files)
    }
  }

  /** Takes away what the batch's tasks have written; why it failed is more important than this. */
  def abort(): Unit =
    try onFileSystem(deleteStaging)
    catch {
      case e: ConnectorError =>
        DeadLetterCommit.log.warn("Files stay behind, where no reader sees them", e)
    }

  private def move(fs: FileSystem, files: Seq[String]): Unit = {
    val ready = folder.ready(batch)
    fs.delete(ready, true)
    folder.require(fs.mkdirs(ready), s"$ready could not be made")
    files.foreach { file =>
      rename(fs, new Path(folder.staging(batch), file), new Path(ready, file))
    }
    val published = folder.published(batch)
    folder.require(fs.mkdirs(published.getParent), s"${published.getParent} could not be made")
    rename(fs, ready, published)
    deleteStaging(fs)
    DeadLetterCommit.log.warn(s"Bad rows of ${files.size} tasks are kept in $published")
  }

  private def rename(fs: FileSystem, from: Path, to: Path): Unit =
    folder.require(fs.rename(from, to), s"$from could not be moved to $to")

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
   * A task's word to the driver: its file, if it has one. In classes of Spark's: one of ours would not
   * reach the driver, which deserializes it without the jars that a session added.
   */
  def message(file: Option[String]): WriterCommitMessage = file match {
    case Some(name) =>
      new WriteTaskResult(new TaskCommitMessage(name), ExecutedWriteSummary(Set.empty, Nil))
    case None => null // Spark's own way to say nothing
  }

  private def fileOf(message: WriterCommitMessage): Option[String] = message match {
    case result: WriteTaskResult => Some(result.commitMsg.obj.toString)
    case _ => None
  }
}
