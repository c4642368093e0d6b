package sparkkinesis.simulator.journal

import java.io.{IOException, RandomAccessFile}
import java.nio.ByteBuffer
import java.nio.channels.OverlappingFileLockException
import java.nio.charset.StandardCharsets.US_ASCII
import java.nio.file.{Files, Path}
import java.util.zip.CRC32C

import scala.annotation.tailrec
import scala.util.control.NonFatal

import sparkkinesis.simulator.service.JournalException

/**
 * A file to which entries are appended. Its first line has the format. Each entry has a header and
 * its content. The header has three big-endian numbers of 4 bytes: the length of the content, the
 * CRC-32C of the content, and the CRC-32C of the 8 bytes before. With the last one, a wrong length
 * is not mistaken for a truncated entry.
 *
 * An entry is written in one piece and not forced to the disk: it survives the end of the process,
 * but maybe not that of the machine. For one thread, and locked for one process. Each method throws
 * [[JournalException]].
 *
 * @param warn receives a sentence about what was cut off
 */
private[journal] final class JournalFile private (
    path: Path,
    file: RandomAccessFile,
    warn: String => Unit
) extends AutoCloseable {
  import JournalFile._

  private var end = 0L

  /** Calls `use` with the place and content of each entry. Must be called first. */
  def replay(use: (Long, Array[Byte]) => Unit): Unit = guarded("read") {
    if (isFresh) {
      file.setLength(0)
      file.write(Header)
    } else checkHeader()
    end = replayFrom(Header.length.toLong, use)
    if (end < file.length) cutTail()
  }

  /** Appends an entry. If that fails, the file is as before. */
  def append(content: Array[Byte]): Unit = guarded("written") {
    val entry = ByteBuffer.allocate(HeadBytes + content.length)
    entry.putInt(content.length).putInt(checksum(content))
    entry.putInt(checksum(entry.array, SummedBytes)).put(content)
    try {
      file.seek(end)
      file.write(entry.array)
      end += entry.capacity
    } catch {
      case e: IOException =>
        file.setLength(end)
        throw e
    }
  }

  override def close(): Unit = file.close()

  /** Whether the file is empty, or has only a truncated first line. */
  private def isFresh: Boolean = {
    val begin = read(0, math.min(file.length, Header.length.toLong).toInt)
    begin.length < Header.length && Header.startsWith(begin)
  }

  private def checkHeader(): Unit = {
    val line = new String(read(0, math.min(file.length, 64).toInt), US_ASCII).takeWhile(_ != '\n')
    line match {
      case Version(number) if number == Format.toString => ()
      case Version(number) =>
        throw new JournalException(
          s"$path has the format $number, this program knows the format $Format: use the newer " +
            "program that wrote it, or another directory."
        )
      case _ =>
        throw new JournalException(
          s"$path is not a journal of a local Kinesis: use another directory."
        )
    }
  }

  @tailrec private def replayFrom(at: Long, use: (Long, Array[Byte]) => Unit): Long = {
    val left = file.length - at
    if (left < HeadBytes) at
    else {
      val head = ByteBuffer.wrap(read(at, HeadBytes))
      val (length, sum) = (head.getInt, head.getInt)
      if (checksum(head.array, SummedBytes) != head.getInt) throw damaged(at)
      if (left - HeadBytes < length) at
      else {
        val content = read(at + HeadBytes, length)
        val isWhole = checksum(content) == sum
        if (isWhole) use(at, content)
        val next = at + HeadBytes + length
        if (isWhole) replayFrom(next, use)
        else if (next == file.length) at
        else throw damaged(at)
      }
    }
  }

  /** Moves the bytes after the last complete entry to another file, in case they are needed. */
  private def cutTail(): Unit = {
    val tail = path.resolveSibling(TornName)
    val size = file.length - end
    Files.write(tail, read(end, size.toInt))
    file.setLength(end)
    warn(
      s"The last entry of $path was not written to its end: its $size bytes have been moved to " +
        s"$tail."
    )
  }

  private def damaged(at: Long): JournalException = new JournalException(
    s"$path is damaged at byte $at: cut it off there to have what came before, or use another " +
      "directory."
  )

  private def read(at: Long, length: Int): Array[Byte] = {
    val bytes = new Array[Byte](length)
    file.seek(at)
    file.readFully(bytes)
    bytes
  }

  private def guarded[A](done: String)(body: => A): A =
    try body
    catch {
      case e: IOException =>
        throw new JournalException(s"$path cannot be $done: ${e.getMessage}", Some(e))
    }
}

private[journal] object JournalFile {
  private val Format = 1
  private val Header = s"spark-kinesis journal $Format\n".getBytes(US_ASCII)
  private val Version = "spark-kinesis journal (\\d+)".r
  private val TornName = "journal.torn"

  /** Bytes of the header that its own checksum covers: length and checksum of the content. */
  private val SummedBytes = 8
  private val HeadBytes = SummedBytes + 4

  /** Opens the file in the directory, which is created if it does not exist. */
  def open(directory: Path, warn: String => Unit): JournalFile = {
    val path = directory.resolve("journal")
    try {
      Files.createDirectories(directory)
      val file = new RandomAccessFile(path.toFile, "rw")
      try {
        if (!isLocked(file))
          throw new JournalException(s"$path is in use by another local Kinesis: end it first.")
        new JournalFile(path, file, warn)
      } catch {
        case NonFatal(e) =>
          file.close()
          throw e
      }
    } catch {
      case e: IOException =>
        throw new JournalException(
          s"$path cannot be opened: ${e.getClass.getSimpleName}: ${e.getMessage}",
          Some(e)
        )
    }
  }

  private def isLocked(file: RandomAccessFile): Boolean =
    try Option(file.getChannel.tryLock()).nonEmpty
    catch { case _: OverlappingFileLockException => false }

  private def checksum(content: Array[Byte]): Int = checksum(content, content.length)

  /** The checksum of the first `count` bytes. */
  private def checksum(bytes: Array[Byte], count: Int): Int = {
    val sum = new CRC32C
    sum.update(bytes, 0, count)
    sum.getValue.toInt
  }
}
