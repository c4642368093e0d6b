package sparkkinesis.spark.once

import java.io.FileNotFoundException
import java.math.BigInteger
import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest
import java.time.Instant
import java.util.UUID

import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}

import sparkkinesis.sink.once.OnceException

/**
 * The attempts to write a query's batches, beside its checkpoint: one small file per attempt, with
 * rising numbers. The newest attempt is the only one that may write.
 *
 * A batch was begun before if the newest file is of the same batch with the same content in the same
 * folder. After a checkpoint was rewound or copied, one of these differs: Spark's log of offsets has
 * the time at which a batch was planned.
 *
 * A file's name contains its owner. So two drivers never write the same file, also where a store
 * would let the second one replace the file of the first.
 *
 * @param checkpoint `checkpointLocation` of the query
 */
private[spark] final class AttemptLog(checkpoint: Path, conf: Configuration) extends AutoCloseable {
  import AttemptLog._

  private lazy val files: FileSystem = checkpoint.getFileSystem(conf)
  private lazy val folder: Path = new Path(files.makeQualified(checkpoint), Folder)

  /**
   * Begins an attempt. From now on it is the newest.
   *
   * @param target identity of the stream
   * @param now before the first record of a first attempt, by the service's clock
   * @throws OnceException if another driver has begun an attempt at the same time
   */
  private[once] def begin(batch: Long, target: String, now: Instant): Attempt = {
    val all = list()
    if (all.isEmpty && batch > 0) logger.warn(unknownPast(batch))
    val number = all.lastOption.fold(1L)(_.number + 1)
    val first =
      Attempt.first(
        number,
        batch,
        hash(batch, target),
        place(folder),
        now,
        UUID.randomUUID.toString
      )
    val same = newest(all).filter(first.isSameContent)
    val attempt = same.find(_.folder == first.folder).fold(first) { it =>
      it.copy(number = number, run = it.run + 1, owner = first.owner)
    }
    if (attempt == first) same.headOption.foreach(it => logger.warn(otherFolder(batch, it)))
    write(attempt)
    if (!isNewest(attempt)) throw OnceException.fenced(s"another driver began batch $batch, too")
    all.dropRight(Kept).foreach(delete)
    attempt
  }

  /** Whether no other attempt has begun since. */
  private[once] def isNewest(attempt: Attempt): Boolean =
    list().filter(_.number >= attempt.number).map(_.path.getName) == Seq(attempt.fileName)

  /** Closes the file system if nobody else uses it. */
  override def close(): Unit = {
    val scheme = Option(checkpoint.toUri.getScheme).getOrElse {
      FileSystem.getDefaultUri(conf).getScheme
    }
    if (conf.getBoolean(s"fs.$scheme.impl.disable.cache", false)) files.close()
  }

  /** In rising order. */
  private def list(): Seq[Entry] =
    try
      files
        .listStatus(folder)
        .toVector
        .flatMap(it => Attempt.numberOf(it.getPath.getName).map(Entry(_, it.getPath)))
        .sortBy(_.number)
    catch { case _: FileNotFoundException => Vector.empty }

  /** The attempts with the highest number: several if drivers began at the same time. */
  private def newest(all: Seq[Entry]): Seq[Attempt] =
    all
      .map(_.number)
      .distinct
      .reverseIterator
      .map(number => all.filter(_.number == number).flatMap(it => read(it).toSeq))
      .find(_.nonEmpty)
      .getOrElse(Nil)

  private def read(entry: Entry): Option[Attempt] =
    Attempt.parse(entry.number, new String(bytes(entry.path), UTF_8))

  private def bytes(path: Path): Array[Byte] = {
    val in = files.open(path)
    try in.readAllBytes()
    finally in.close()
  }

  private def write(attempt: Attempt): Unit = {
    files.mkdirs(folder)
    val out = files.create(new Path(folder, attempt.fileName), false)
    try out.write(attempt.text.getBytes(UTF_8))
    finally out.close()
  }

  /** An old file does no harm. */
  private def delete(entry: Entry): Unit =
    try files.delete(entry.path, false): Unit
    catch { case NonFatal(e) => logger.warn(s"Could not delete the old file ${entry.path}.", e) }

  /** Spark writes the offsets of a batch before it runs the batch. */
  private def hash(batch: Long, target: String): String = {
    val offsets = bytes(new Path(checkpoint, s"offsets/$batch"))
    val sha = MessageDigest.getInstance("SHA-256")
    sha.update(s"$target\n".getBytes(UTF_8))
    new BigInteger(1, sha.digest(offsets)).toString(16)
  }

  private def unknownPast(batch: Long) =
    s"Batch $batch is the first one in $folder, the sink's log of attempts. If the batch was begun " +
      "before with deliveryGuarantee=atLeastOnce, or if the log was deleted, its rows may be written " +
      "a second time."

  private def otherFolder(batch: Long, that: Attempt) =
    s"Batch $batch was begun in folder ${that.folder}, and this is folder ${place(folder)}. The sink " +
      "takes this checkpoint for a copy, and writes all rows of the batch. If the checkpoint was " +
      "moved, or has a second name, rows of this batch may be in the stream twice. Use one name."
}

private[spark] object AttemptLog {
  val Folder = "spark-kinesis-sink"
  private val Kept = 10
  private val logger = org.slf4j.LoggerFactory.getLogger(classOf[AttemptLog])

  /** A file of the log. */
  private final case class Entry(number: Long, path: Path)

  /** One line. The schemes of S3 name the same folder. */
  private[once] def place(folder: Path): String =
    folder.toUri.toString.replaceFirst("^s3n?:", "s3a:")
}
