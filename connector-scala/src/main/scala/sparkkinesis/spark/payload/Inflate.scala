package sparkkinesis.spark.payload

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, IOException}
import java.nio.ByteOrder.{BIG_ENDIAN, LITTLE_ENDIAN}
import java.nio.{BufferUnderflowException, ByteBuffer}
import java.util.zip.{CRC32, CRC32C, Checksum, DataFormatException, Inflater}

import scala.annotation.tailrec

import com.github.luben.zstd.{RecyclingBufferPool, ZstdInputStream}
import org.xerial.snappy.Snappy

/** Decompresses data in the format that its first bytes name. */
private[spark] object Inflate {

  /** A record has at most 10 MiB, and text becomes several times as large. */
  val DefaultMaxBytes: Int = 64 << 20

  /** @param maxBytes the largest result */
  def apply(data: Array[Byte], maxBytes: Int): Either[Reason, Array[Byte]] =
    Formats.find(_.begins(data)).toRight("NOT_COMPRESSED").flatMap { format =>
      val result = new Result(maxBytes)
      try {
        format.read(ByteBuffer.wrap(data), result)
        Right(result.toByteArray)
      } catch {
        case _: TooLarge => Left(s"TOO_LARGE: more than $maxBytes bytes")
        case _: IOException | _: BufferUnderflowException | _: DataFormatException =>
          Left(s"DAMAGED: ${format.name}")
      }
    }

  /** Decompresses data that begin like compressed data, and returns other data as they are. */
  def ifCompressed(data: Array[Byte], maxBytes: Int): Either[Reason, Array[Byte]] =
    if (Formats.exists(_.begins(data))) apply(data, maxBytes) else Right(data)

  private final class TooLarge extends RuntimeException

  private final class Result(maxBytes: Int) extends ByteArrayOutputStream {

    /** Every piece of a result passes through here, before it takes memory. */
    def expect(bytes: Int): Unit = {
      if (bytes < 0) throw new IOException("a negative size")
      if (bytes > maxBytes - count) throw new TooLarge
    }

    override def write(from: Array[Byte], start: Int, length: Int): Unit = {
      expect(length)
      super.write(from, start, length)
    }

    def checksum(start: Int, kind: Checksum): Int = {
      kind.update(buf, start, count - start)
      kind.getValue.toInt
    }
  }

  /** @param first the bytes with which data in this format begin */
  private sealed abstract class Format(val name: String, first: Int*) {
    def begins(data: Array[Byte]): Boolean =
      data.length >= first.length && first.indices.forall(i => data(i) == first(i).toByte)

    /**
     * Reads all that is left.
     *
     * @throws java.io.IOException if the data are damaged, or if other bytes follow them
     * @throws java.util.zip.DataFormatException if the data are damaged
     * @throws java.nio.BufferUnderflowException if their end is missing
     */
    def read(rest: ByteBuffer, result: Result): Unit
  }

  private val Formats = Seq(Gzip, Zlib, Zstd, SnappyFrames, SnappyBlocks)

  /** Java's `GZIPInputStream` calls itself for each empty member, which overflows the stack. */
  private object Gzip extends Format("gzip", 0x1f, 0x8b) {
    private val (checksum, extra, fileName, comment) = (2, 4, 8, 16)

    @tailrec def read(rest: ByteBuffer, result: Result): Unit = {
      skipHeader(rest.order(LITTLE_ENDIAN))
      val start = result.size
      inflate(new Inflater(true), rest, result)
      if (rest.getInt != result.checksum(start, new CRC32) || rest.getInt != result.size - start)
        throw new IOException("a wrong checksum")
      if (rest.hasRemaining) read(rest, result)
    }

    private def skipHeader(rest: ByteBuffer): Unit = {
      val fixed = bytes(rest, 10)
      if (!begins(fixed) || fixed(2) != 8) throw new IOException("no member of gzip")
      def has(flag: Int) = (fixed(3) & flag) != 0
      if (has(extra)) skip(rest, rest.getShort & 0xffff)
      if (has(fileName)) skipText(rest)
      if (has(comment)) skipText(rest)
      if (has(checksum)) skip(rest, 2)
    }

    @tailrec private def skipText(rest: ByteBuffer): Unit = if (rest.get != 0) skipText(rest)
  }

  private object Zlib extends Format("zlib", 0x78) {
    private val HeaderDivisor = 31
    private val Dictionary = 0x20 // nobody could tell which one

    override def begins(data: Array[Byte]): Boolean = super.begins(data) && data.length > 1 &&
      ByteBuffer.wrap(data).getShort % HeaderDivisor == 0 && (data(1) & Dictionary) == 0

    def read(rest: ByteBuffer, result: Result): Unit = {
      inflate(new Inflater, rest, result)
      if (rest.hasRemaining) throw new IOException("other bytes follow")
    }
  }

  private def inflate(inflater: Inflater, rest: ByteBuffer, result: Result): Unit =
    try {
      inflater.setInput(rest)
      val piece = new Array[Byte](4096)
      while (!inflater.finished) {
        val length = inflater.inflate(piece)
        if (length == 0 && !inflater.finished) throw new BufferUnderflowException
        result.write(piece, 0, length)
      }
    } finally inflater.end()

  private object Zstd extends Format("zstd", 0x28, 0xb5, 0x2f, 0xfd) {
    private val Magic = 0xfd2fb528
    private val SkippableMagic = 0x184d2a5 // without its last four bits
    private val OneByteRepeated = 1

    def read(rest: ByteBuffer, result: Result): Unit = {
      val content = new ByteArrayInputStream(rest.array)
      while (rest.hasRemaining) skipFrame(rest.order(LITTLE_ENDIAN))
      val stream = new ZstdInputStream(content, RecyclingBufferPool.INSTANCE)
      try stream.transferTo(result): Unit
      finally stream.close()
    }

    /** The stream of zstd-jni does not notice that a frame behind the first one is cut. */
    private def skipFrame(rest: ByteBuffer): Unit = {
      val magic = rest.getInt
      if (magic >>> 4 == SkippableMagic) skip(rest, rest.getInt)
      else if (magic != Magic) throw new IOException("no frame of zstd")
      else {
        val flags = rest.get.toInt
        val isSingle = flags >> 5 & 1
        val window = 1 - isSingle
        val dictionary = Seq(0, 1, 2, 4)(flags & 3)
        val contentSize = Seq(isSingle, 2, 4, 8)(flags >> 6 & 3)
        skip(rest, window + dictionary + contentSize)
        skipBlocks(rest)
        skip(rest, 4 * (flags >> 2 & 1)) // the checksum
      }
    }

    @tailrec private def skipBlocks(rest: ByteBuffer): Unit = {
      val header = rest.getShort & 0xffff | (rest.get & 0xff) << 16
      skip(rest, if ((header >> 1 & 3) == OneByteRepeated) 1 else header >> 3)
      val isLast = (header & 1) == 1
      if (!isLast) skipBlocks(rest)
    }
  }

  /**
   * Snappy blocks in a container. The readers in snappy-java allocate whatever size a block claims,
   * so a few damaged bytes could take gigabytes. A container has no mark at its end, so nothing
   * shows that whole blocks are missing there.
   */
  private sealed abstract class SnappyContainer(header: Int, first: Int*)
      extends Format("snappy", first: _*) {

    /** Takes the next block. */
    protected def take(rest: ByteBuffer, result: Result): Unit

    def read(rest: ByteBuffer, result: Result): Unit = {
      skip(rest, header)
      while (rest.hasRemaining) take(rest, result)
    }

    protected def uncompress(block: Array[Byte], result: Result): Unit = {
      result.expect(Snappy.uncompressedLength(block))
      result.write(Snappy.uncompress(block))
    }
  }

  private def bytes(rest: ByteBuffer, count: Int): Array[Byte] = {
    val start = rest.position()
    skip(rest, count)
    rest.array.slice(start, start + count)
  }

  private def skip(rest: ByteBuffer, count: Int): Unit = {
    if (count < 0 || count > rest.remaining) throw new BufferUnderflowException
    rest.position(rest.position() + count): Unit
  }

  /** What snappy-java's `SnappyOutputStream` writes: blocks behind their lengths. */
  private object SnappyBlocks
      extends SnappyContainer(16, 0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0x00) {
    protected def take(rest: ByteBuffer, result: Result): Unit =
      uncompress(bytes(rest, rest.order(BIG_ENDIAN).getInt), result)
  }

  /** Snappy's framing format: chunks with a type, a length and a checksum. */
  private object SnappyFrames
      extends SnappyContainer(10, 0xff, 0x06, 0x00, 0x00, 's', 'N', 'a', 'P', 'p', 'Y') {
    private val FirstSkippable = 0x80
    private val Mask = 0xa282ead8

    protected def take(rest: ByteBuffer, result: Result): Unit = {
      val chunk = rest.order(LITTLE_ENDIAN).getInt
      val kind = chunk & 0xff
      val content = ByteBuffer.wrap(bytes(rest, chunk >>> 8)).order(LITTLE_ENDIAN)
      if (kind > 1 && kind < FirstSkippable) throw new IOException(s"the unknown type $kind")
      if (kind <= 1) {
        val checksum = content.getInt
        val block = bytes(content, content.remaining)
        val start = result.size
        if (kind == 0) uncompress(block, result) else result.write(block)
        if (masked(result.checksum(start, new CRC32C)) != checksum)
          throw new IOException("a wrong checksum")
      }
    }

    private def masked(checksum: Int): Int = Integer.rotateRight(checksum, 15) + Mask
  }
}
