package sparkkinesis.spark.once

import java.io.FileNotFoundException
import java.math.BigInteger
import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest
import java.time.Instant
import java.util.UUID

import scala.util.Try

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}

import sparkkinesis.sink.once.OnceException

/**
 * The attempts to write a query's batches, beside its checkpoint: one small file per attempt, with
 * rising numbers. The newest attempt is the only one that may write.
 *
 * A batch was begun before if the newest file is of the same batch with the same content. After a
 * checkpoint was rewound or copied, the content differs: Spark's log of offsets has the time at which
 * a batch was planned, and the folder is part of the content.
 *
 * @param checkpoint `checkpointLocation` of the query
 */
private[spark] final class AttemptLog(checkpoint: Path, conf: Configuration) {
  import AttemptLog._

  private val files: FileSystem = checkpoint.getFileSystem(conf)
  private val folder = new Path(files.makeQualified(checkpoint), Folder)

  /**
   * Begins an attempt. From now on it is the newest.
   *
   * @param target identity of the stream
   * @param now before the first record of a first attempt, by the service's clock
   * @throws OnceException if another driver has begun an attempt at the same time
   */
  private[once] def begin(batch: Long, target: String, now: Instant): Attempt = {
    val all = numbers
    val content = hash(batch, target)
    val number = all.lastOption.fold(1L)(_ + 1)
    val last = all.reverseIterator.map(read).collectFirst { case Some(complete) => complete }
    val first = Attempt(number, batch, content, UUID.randomUUID.toString, 0, now, newOwner)
    val attempt = last.filter(it => it.batch == batch && it.content == content).fold(first) { it =>
      it.copy(number = number, run = it.run + 1, owner = newOwner)
    }
    write(attempt)
    if (!isNewest(attempt)) throw OnceException.fenced(s"another driver began batch $batch, too")
    all.dropRight(Kept).foreach(it => files.delete(file(it), false))
    attempt
  }

  /** Whether no later attempt has begun. */
  private[once] def isNewest(attempt: Attempt): Boolean =
    numbers.lastOption.contains(attempt.number) &&
      read(attempt.number).exists(_.owner == attempt.owner)

  private def newOwner = UUID.randomUUID.toString

  /** In rising order. */
  private def numbers: Seq[Long] =
    try
      files.listStatus(folder).toSeq.flatMap(it => Try(it.getPath.getName.toLong).toOption).sorted
    catch { case _: FileNotFoundException => Nil }

  private def file(number: Long) = new Path(folder, f"$number%012d")

  private def read(number: Long): Option[Attempt] =
    Attempt.parse(number, new String(bytes(file(number)), UTF_8))

  private def bytes(path: Path): Array[Byte] = {
    val in = files.open(path)
    try in.readAllBytes()
    finally in.close()
  }

  private def write(attempt: Attempt): Unit = {
    files.mkdirs(folder)
    val out = files.create(file(attempt.number), false)
    try out.write(attempt.text.getBytes(UTF_8))
    finally out.close()
  }

  /** Spark writes the offsets of a batch before it runs the batch. */
  private def hash(batch: Long, target: String): String = {
    val offsets = bytes(new Path(checkpoint, s"offsets/$batch"))
    val sha = MessageDigest.getInstance("SHA-256")
    Seq(folder.toString, target).foreach(text => sha.update(s"$text\n".getBytes(UTF_8)))
    new BigInteger(1, sha.digest(offsets)).toString(16)
  }
}

private[spark] object AttemptLog {
  val Folder = "spark-kinesis-sink"
  private val Kept = 10
}
