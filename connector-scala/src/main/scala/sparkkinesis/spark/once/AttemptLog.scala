package sparkkinesis.spark.once

import java.io.{FileNotFoundException, IOException}
import java.math.BigInteger
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.AccessDeniedException
import java.security.MessageDigest
import java.time.Instant
import java.util.UUID

import scala.util.Using
import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.hadoop.security.AccessControlException

import sparkkinesis.sink.once.{OnceException, RowTotal}
import sparkkinesis.spark.errors.ConnectorError

/**
 * The attempts to write a query's batches, beside its checkpoint: one small file per attempt, with
 * rising numbers. The newest attempt is the only one that may write.
 *
 * A batch was begun before if the newest file is of the same batch with the same content in the
 * same folder. After a checkpoint was rewound or copied, one of these differs: Spark's log of
 * offsets has the time at which a batch was planned.
 *
 * A file's name contains its owner. So two drivers never write the same file, also where a store
 * would let the second one replace the file of the first.
 *
 * The file of an attempt that has just begun may be incomplete for a moment. So an attempt that
 * found incomplete files reads them again after it has written its own: either they are complete
 * now, or their attempts will see its file.
 *
 * A batch write has a folder of its own, by its ID. There, a file says that it was committed.
 *
 * @param checkpoint `checkpointLocation` of the write
 * @param writeId of a batch write; none: a streaming query, whose log of offsets is beside this one
 */
private[spark] final class AttemptLog(
    checkpoint: Path,
    conf: Configuration,
    writeId: Option[String] = None
) extends AutoCloseable {
  import AttemptLog._

  private lazy val system: FileSystem = checkpoint.getFileSystem(conf)
  private lazy val folder: Path =
    new Path(system.makeQualified(checkpoint), writeId.fold(Folder)(it => s"$Folder/write-$it"))

  /**
   * Begins an attempt. From now on it is the newest.
   *
   * @param target identity of the stream
   * @param now before the first record of a first attempt, by the service's clock
   * @throws OnceException if another driver has begun an attempt at the same time
   * @throws ConnectorError if the batch write was begun for another stream or in another folder, or
   *   if Spark has not logged the offsets of the batch
   */
  private[once] def begin(batch: Long, target: String, now: Instant): Attempt = {
    val all = list()
    val known = newest(all)
    if (writeId.isEmpty && known.forall(_.batch < batch - 1) && batch > 0)
      logger.warn(unknownPast(batch, known.headOption))
    val after = known.headOption.fold(0L)(_.number)
    val incomplete =
      all.filter(it => it.number >= after && !known.exists(_.fileName == it.path.getName))
    val number = all.lastOption.fold(1L)(_.number + 1)
    val content = hash(batch, target)
    val owner = UUID.randomUUID.toString
    val first = Attempt.first(number, after, batch, content, place(folder), now, owner)
    val attempt = continued(first, known, sameBatch(all, batch))
    write(attempt.fileName, attempt.text, overwrite = false)
    if (!isNewest(attempt) || incomplete.exists(attemptIn(_).nonEmpty))
      throw OnceException.fenced(s"another driver began batch $batch, too")
    all.dropRight(Kept).foreach(delete)
    attempt
  }

  /**
   * The attempt with the incarnation of an earlier attempt of its batch.
   *
   * @param known the newest attempts
   * @param before attempts of its batch after the last one of another batch, the newest first: the
   *   user may have named another stream meanwhile
   */
  private def continued(first: Attempt, known: Seq[Attempt], before: => Seq[Attempt]): Attempt = {
    if (!known.exists(first.isSameContent) && known.nonEmpty)
      writeId.foreach(it => throw otherStream(it))
    val all = if (known.exists(first.isSameContent)) known else before
    val same = all.filter(first.isSameContent)
    val mine = same.find(_.folder == first.folder)
    if (mine.isEmpty) same.headOption.foreach { it =>
      writeId.foreach(id => throw otherPath(id, it))
      logger.warn(otherFolder(first.batch, it))
    }
    mine.fold(first) { it =>
      it.copy(number = first.number, run = it.run + 1, owner = first.owner)
    }
  }

  /**
   * Whether no other attempt has begun since.
   *
   * A listing that lacks the attempt's own file is out of date if the file is there. It then says
   * nothing about others. A listing that has this file and lacks a later one cannot be told from
   * one that is up to date: the store must list a new file at once.
   *
   * @throws OnceException if the listing is out of date, or the store denies it
   */
  private[once] def isNewest(attempt: Attempt): Boolean = {
    val listed = list().filter(_.number >= attempt.number).map(_.path.getName)
    val isGone = listed.isEmpty && text(new Path(folder, attempt.fileName)).isEmpty
    if (listed.isEmpty && !isGone) throw OnceException.staleListing(folder.toString)
    listed == Seq(attempt.fileName)
  }

  /** Whether it is the log of a batch write, and not of a query. */
  private[once] def isNamed: Boolean = writeId.nonEmpty

  /**
   * The batch write, if it was committed. Always `None` for a streaming query.
   *
   * @throws ConnectorError if it was committed for another stream
   */
  private[once] def committed(target: String): Option[CompletedWrite] = for {
    id <- writeId
    text <- text(new Path(folder, CommittedFile))
    done <- CompletedWrite.parse(text)
  } yield if (done.content == hash(0, target)) done else throw otherStream(id)

  /**
   * Logs that all rows of the attempt's batch are in the stream. Spark itself logs this for a
   * query.
   *
   * @param total of the batch's rows
   */
  private[once] def commit(attempt: Attempt, total: RowTotal, at: Instant): Unit =
    if (isNamed)
      write(CommittedFile, CompletedWrite(attempt.content, at, total).text, overwrite = true)

  /** Tells apart batch writes with the same ID in different folders. `None` for a query. */
  private[once] def uniqueId: Option[String] = writeId.map { id =>
    s"$id-${UUID.nameUUIDFromBytes(place(folder).getBytes(UTF_8)).toString.take(8)}"
  }

  /** Closes the file system if nobody else uses it. */
  override def close(): Unit = {
    val scheme = Option(checkpoint.toUri.getScheme).getOrElse {
      FileSystem.getDefaultUri(conf).getScheme
    }
    if (conf.getBoolean(s"fs.$scheme.impl.disable.cache", false)) system.close()
  }

  /** The complete attempts with the highest number: several if drivers began at the same time. */
  private def newest(all: Seq[Entry]): Seq[Attempt] = byNumber(all).find(_.nonEmpty).getOrElse(Nil)

  /** The attempts of the batch after the last one of another batch. */
  private def sameBatch(all: Seq[Entry], batch: Long): Seq[Attempt] =
    byNumber(all).takeWhile(_.forall(_.batch == batch)).flatten.toSeq

  /** The complete attempts, those with the highest number first. Reads a file only when asked. */
  private def byNumber(all: Seq[Entry]): Iterator[Seq[Attempt]] =
    all.map(_.number).distinct.reverseIterator.map { number =>
      all.filter(_.number == number).flatMap(it => attemptIn(it).toSeq)
    }

  /** The files of attempts, in rising order. */
  private def list(): Seq[Entry] = permitted("list files") {
    try
      system
        .listStatus(folder)
        .toVector
        .flatMap(it => Attempt.numberOf(it.getPath.getName).map(Entry(_, it.getPath)))
        .sortBy(_.number)
    catch { case _: FileNotFoundException => Vector.empty }
  }

  /** `None` if the file is incomplete. */
  private def attemptIn(entry: Entry): Option[Attempt] =
    closed(entry.path).flatMap(Attempt.parse(entry.number, _))

  /** `None` if there is no such file, or if it is incomplete. */
  private def text(path: Path): Option[String] =
    try closed(path)
    catch { case _: FileNotFoundException => None }

  /**
   * `None` if nobody has closed the file. If a driver and a data node of HDFS fail while the driver
   * writes a file, HDFS refuses to read it, for up to 20 minutes.
   */
  private def closed(path: Path): Option[String] =
    try Some(read(path))
    catch { case e: IOException if e.getClass.getSimpleName == OfUnclosedFile => None }

  private def read(path: Path): String = permitted("read files") {
    Using.resource(system.open(path))(it => new String(it.readAllBytes(), UTF_8))
  }

  private def write(name: String, text: String, overwrite: Boolean): Unit =
    permitted("write files") {
      system.mkdirs(folder)
      Using.resource(system.create(new Path(folder, name), overwrite))(
        _.write(text.getBytes(UTF_8))
      )
    }

  /** An old file does no harm. */
  private def delete(entry: Entry): Unit =
    try system.delete(entry.path, false): Unit
    catch { case NonFatal(e) => logger.warn(s"Could not delete the old file ${entry.path}.", e) }

  /** The stores of Hadoop use one of two exceptions if a right is missing. */
  private def permitted[A](right: String)(call: => A): A =
    try call
    catch {
      case e @ (_: AccessDeniedException | _: AccessControlException) =>
        throw OnceException.denied(right, folder.toString, e)
    }

  private def hash(batch: Long, target: String): String = {
    val content = writeId.fold(offsets(batch))(_.getBytes(UTF_8))
    val sha = MessageDigest.getInstance("SHA-256")
    sha.update(s"$target\n".getBytes(UTF_8))
    new BigInteger(1, sha.digest(content)).toString(16)
  }

  /** Spark writes the offsets of a batch before it runs the batch, except in real-time mode. */
  private def offsets(batch: Long): Array[Byte] =
    text(new Path(checkpoint, s"offsets/$batch"))
      .getOrElse(throw noOffsets(batch))
      .getBytes(UTF_8)

  private def noOffsets(batch: Long) = OnceUnsupported(
    s"Spark has not logged the offsets of batch $batch in $checkpoint before it runs the batch",
    "Use a micro-batch trigger, and no real-time mode."
  )

  private def otherStream(id: String) = OnceUnsupported(
    s"batch write '$id' was begun before for another stream, or its stream was created again",
    "Change option 'writeId'."
  )

  private def otherPath(id: String, that: Attempt) = OnceUnsupported(
    s"batch write '$id' was begun in folder ${that.folder}, and this is folder ${place(folder)}: " +
      "one folder may have two names, and the rows would be written twice",
    "Set 'checkpointLocation' as before. To write all rows, change option 'writeId'."
  )

  private def unknownPast(batch: Long, last: Option[Attempt]) =
    s"Batch $batch begins, and the last batch in $folder, the sink's log of attempts, is " +
      s"${last.fold("none")(_.batch.toString)}. If batch $batch was begun before with " +
      "deliveryGuarantee=atLeastOnce, or if the log was deleted, its rows may be written a " +
      "second time."

  private def otherFolder(batch: Long, that: Attempt) =
    s"Batch $batch was begun in folder ${that.folder}, and this is folder ${place(folder)}. The " +
      "sink takes this checkpoint for a copy, and writes all rows of the batch. If the " +
      "checkpoint was moved, or has a second name, rows of this batch may be in the stream " +
      "twice. Use one name."
}

private[spark] object AttemptLog {
  val Folder = "spark-kinesis-sink"
  private val CommittedFile = "committed"

  /** Its package is that of the client of HDFS, which a Spark may not have. */
  private val OfUnclosedFile = "CannotObtainBlockLengthException"
  private val Kept = 10
  private val logger = org.slf4j.LoggerFactory.getLogger(classOf[AttemptLog])

  /** A file of an attempt. */
  private final case class Entry(number: Long, path: Path)

  /** The folder on one line. All schemes of S3 name the same folder. */
  private[once] def place(folder: Path): String =
    folder.toUri.toString.replaceFirst("^s3n?:", "s3a:")
}

/** The error of a write that cannot be exactly once. */
private[spark] object OnceUnsupported {
  def apply(why: String, remedy: String): ConnectorError = ConnectorError(
    "KINESIS_EXACTLY_ONCE_UNSUPPORTED",
    s"Option 'deliveryGuarantee' is exactlyOnce, but $why. $remedy Or set the option to " +
      "atLeastOnce."
  )
}
