package sparkkinesis.spark.deadletter

import java.io.IOException
import java.util.{LinkedHashMap, Map => JMap}

import org.apache.hadoop.fs.{FileSystem, Path}
import org.slf4j.LoggerFactory

import org.apache.spark.SparkContext
import org.apache.spark.internal.io.FileCommitProtocol.TaskCommitMessage
import org.apache.spark.sql.connector.write.WriterCommitMessage
import org.apache.spark.sql.execution.datasources.{ExecutedWriteSummary, WriteTaskResult}

import sparkkinesis.compat._
import sparkkinesis.spark.errors.ConnectorError

/** Publishes the dead letters of a batch, on the driver, when Spark knows which attempts count. */
private[spark] final class DeadLetterCommit(folder: DeadLetterFolder, batch: Option[Long]) {

  /**
   * Publishes the files that the messages name, and no others. Without files, it costs a batch
   * write without a name no call of the file system, and any other write one.
   *
   * After a crash at any point, Spark runs a micro-batch again. If publishing fails, nothing
   * remains published: nobody may run a batch write again.
   *
   * @param within of a batch write in `foreachBatch`: replaces what its earlier runs published
   */
  def publish(
      messages: Array[WriterCommitMessage],
      within: Option[EnclosingBatch] = None
  ): Unit = {
    val files = messages.toSeq.flatMap(DeadLetterCommit.fileOf)
    val published = within.fold(folder.published(batch)) { it =>
      folder.copy(name = Some(it.queryId)).published(Some(it.batchId))
    }
    val isNamed = batch.nonEmpty || within.nonEmpty || folder.name.nonEmpty
    if (files.nonEmpty || isNamed) onFileSystem { fs =>
      fs.delete(published, true)
      if (files.nonEmpty)
        try move(fs, files, published)
        catch {
          case e: Throwable =>
            withdraw(fs, published)
            throw e
        }
    }
  }

  /** A store without an atomic rename may have moved some of the files. */
  private def withdraw(fs: FileSystem, published: Path): Unit = {
    val isInterrupted = Thread.interrupted() // otherwise the call fails at once
    try fs.delete(published, true): Unit
    catch {
      case e: IOException =>
        DeadLetterCommit.log.warn(s"Could not delete $published, which may be incomplete", e)
    } finally if (isInterrupted) Thread.currentThread.interrupt()
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

  private def move(fs: FileSystem, files: Seq[String], published: Path): Unit = {
    val ready = folder.ready(batch)
    fs.delete(ready, true)
    folder.require(fs.mkdirs(ready), s"cannot create $ready")
    files.foreach { file =>
      rename(fs, new Path(folder.staging(batch), file), new Path(ready, file))
    }
    folder.require(fs.mkdirs(published.getParent), s"cannot create ${published.getParent}")
    rename(fs, ready, published)
    deleteStaging(fs)
    DeadLetterCommit.log.warn(s"Kept the dead letters of ${files.size} tasks in $published")
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

/**
 * The micro-batch whose function makes a batch write (`foreachBatch`). If the micro-batch runs
 * again, its writes have the same names. Unknown in Spark Connect, and in a thread that was there
 * before the function: then only option `writeId` names a write.
 *
 * @param queryId id of the streaming query; a second write of the same run has `-2` after it
 */
private[spark] final case class EnclosingBatch(queryId: String, batchId: Long)

private[spark] object EnclosingBatch {

  // Spark sets these for the thread of a query, and for threads that it starts.
  private val Query = "sql.streaming.queryId"
  private val Batch = "streaming.sql.batchId"

  /** The property with the ID of an execution, which is new in each run of a micro-batch. */
  private val Run = "spark.sql.execution.root.id"

  /** Number of the last runs to remember. A thread that a user keeps may write for an old run. */
  private val MostRuns = 1000
  private val writes = new LinkedHashMap[String, Set[Int]](16, 0.75f, true) {
    override def removeEldestEntry(eldest: JMap.Entry[String, Set[Int]]): Boolean = size > MostRuns
  }

  /**
   * Publishes the files of a write of this thread's micro-batch, or of a write outside of one. If
   * that fails, a later write of the run may have the name.
   */
  def publishing(publish: Option[EnclosingBatch] => Unit): Unit = {
    val context = SparkContext.getOrCreate()
    def property(name: String) = Option(context.getLocalProperty(name))
    val found = for {
      query <- property(Query)
      batch <- property(Batch).flatMap(_.toLongOption)
      run <- property(Run)
    } yield (query, batch, s"$query/$batch/$run")
    found.fold(publish(None)) { case (query, batch, run) =>
      val number = take(run)
      try publish(Some(EnclosingBatch(if (number == 1) query else s"$query-$number", batch)))
      catch {
        case e: Throwable =>
          giveBack(run, number)
          throw e
      }
    }
  }

  private def take(run: String): Int = synchronized {
    val taken = writes.getOrDefault(run, Set.empty)
    val number = Iterator.from(1).filterNot(taken).next()
    writes.put(run, taken + number)
    number
  }

  private def giveBack(run: String, number: Int): Unit = synchronized {
    writes.computeIfPresent(run, (_, taken) => taken - number): Unit
  }
}
