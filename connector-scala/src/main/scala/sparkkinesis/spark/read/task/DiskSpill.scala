package sparkkinesis.spark.read.task

import java.io.{DataInputStream, EOFException, InputStream}
import java.nio.ByteBuffer
import java.util.concurrent.Executor

import scala.concurrent.duration._
import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import org.apache.spark.sparkkinesis.DiskBlocks

import sparkkinesis.client.{Clock, DaemonThreads}
import sparkkinesis.source.store.{PageBytes, SpillSpace}

/**
 * Pages in Spark's local directories of this executor. After a write has failed, or if the disk is
 * nearly full, it accepts no page for a while. Safe for many threads.
 *
 * @param removing runs the removal of files. It may take long, because a removal waits for tasks
 *   that read the file.
 */
private[task] final class DiskSpill(clock: Clock, removing: Executor = DiskSpill.Removing)
    extends SpillSpace {
  import DiskSpill._

  private val log = LoggerFactory.getLogger(classOf[DiskSpill])
  private var closedUntil = Option.empty[Long]
  private var quietUntil = Option.empty[Long]

  override def isOpen: Boolean = synchronized(hasPassed(closedUntil))

  override def write(page: PageBytes): Option[Long] =
    trying(e => close(s"writing a page failed: $e")) {
      val free = DiskBlocks.freeBytes
      if (free < ReservedBytes) {
        close(s"only $free bytes are free")
        None
      } else Some(DiskBlocks.write(Seq(lengths(page), page.index, page.content)))
    }

  override def read(id: Long): Option[PageBytes] =
    trying(e => warn(s"A page of Kinesis on this executor's disk cannot be read: $e.")) {
      DiskBlocks.read(id)(pageFrom)
    }

  override def remove(id: Long): Unit = removing.execute { () =>
    trying(e => log.debug("A page on disk was not removed.", e)) {
      DiskBlocks.remove(id)
      None
    }: Unit
  }

  /** A class that this Spark lacks is a failure like any other. A thread that ends is none. */
  private def trying[A](onFailure: Throwable => Unit)(body: => Option[A]): Option[A] =
    try body
    catch {
      case e @ (NonFatal(_) | _: LinkageError) =>
        if (!Thread.currentThread.isInterrupted) onFailure(e)
        None
    }

  private def close(reason: String): Unit = synchronized {
    closedUntil = Some(clock.elapsedMillis + Pause.toMillis)
    warn(
      s"Pages of Kinesis are not written to this executor's disk for now: $reason. Records that " +
        "do not fit in memory wait in Kinesis. Check the space in Spark's local directories, or " +
        "set 'fetchSpillSize' to 0."
    )
  }

  /** Warns once in a while, because trouble with the disk returns with each page. */
  private def warn(message: String): Unit = synchronized {
    if (hasPassed(quietUntil)) {
      quietUntil = Some(clock.elapsedMillis + WarningPeriod.toMillis)
      log.warn(message)
    }
  }

  private def hasPassed(millis: Option[Long]): Boolean = millis.forall(clock.elapsedMillis >= _)
}

private[task] object DiskSpill {

  /** Left to Spark's own files: shuffles, spills of sorts. */
  private val ReservedBytes = 1L << 30

  /**
   * Removes blocks on one daemon thread, so that the thread that talks to the driver never waits
   * for a disk. It ends one second after the last removal, so that an executor without pages has no
   * thread.
   */
  private lazy val Removing: Executor = DaemonThreads.pool("spark-kinesis-remove", most = 1)

  private val Pause = 10.seconds
  private val WarningPeriod = 10.minutes
  private val PieceBytes = 256 * 1024

  private def lengths(page: PageBytes): Array[Byte] =
    ByteBuffer.allocate(8).putInt(page.index.length).putInt(page.content.length).array

  private def pageFrom(stream: InputStream): PageBytes = {
    val in = new DataInputStream(stream)
    val (index, content) = (new Array[Byte](in.readInt()), new Array[Byte](in.readInt()))
    readFully(in, index)
    readFully(in, content)
    new PageBytes(index, content)
  }

  /** Reads in pieces, because the JVM copies each piece through memory outside of the heap. */
  private def readFully(in: InputStream, bytes: Array[Byte]): Unit = {
    var end = 0
    while (end < bytes.length) {
      val count = in.read(bytes, end, math.min(PieceBytes, bytes.length - end))
      if (count < 0) throw new EOFException(s"The file ends after $end of ${bytes.length} bytes.")
      end += count
    }
  }
}
