package sparkkinesis.spark.payload

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, IOException, InputStream}
import java.nio.ByteOrder.{BIG_ENDIAN, LITTLE_ENDIAN}
import java.nio.{BufferUnderflowException, ByteBuffer}
import java.util.zip.{CRC32C, GZIPInputStream, InflaterInputStream}

import scala.annotation.tailrec

import com.github.luben.zstd.ZstdInputStream
import org.xerial.snappy.Snappy

import sparkkinesis.compat._

/** Decompresses data in the format that its first bytes name. */
private[spark] object Inflate {

  /** Compressed records have at most 10 MiB. */
  val DefaultMaxBytes: Int = 64 << 20

  /** @param maxBytes the largest result */
  def apply(data: Array[Byte], maxBytes: Int): Either[Reason, Array[Byte]] =
    Formats.find(_.begins(data)).toRight("NOT_COMPRESSED").flatMap { format =>
      try format.read(data, maxBytes).toRight(s"TOO_LARGE: more than $maxBytes bytes")
      catch {
        case _: IOException | _: BufferUnderflowException => Left(s"DAMAGED: ${format.name}")
      }
    }

  /** Decompresses data that begin like compressed data, and returns other data as they are. */
  def ifCompressed(data: Array[Byte], maxBytes: Int): Either[Reason, Array[Byte]] =
    if (Formats.exists(_.begins(data))) apply(data, maxBytes) else Right(data)

  /** @param first the bytes with which data in this format begin */
  private sealed abstract class Format(val name: String, first: Int*) {
    def begins(data: Array[Byte]): Boolean =
      data.length >= first.length && first.indices.forall(i => data(i) == first(i).toByte)

    /**
     * The decompressed data; `None` if they are larger than `maxBytes`.
     *
     * @throws java.io.IOException if the data are damaged, or if other bytes follow them
     * @throws java.nio.BufferUnderflowException if their end is missing
     */
    def read(data: Array[Byte], maxBytes: Int): Option[Array[Byte]]
  }

  private val Formats = Seq(Gzip, Zlib, Zstd, SnappyFrames, SnappyBlocks)

  private object Gzip extends Format("gzip", 0x1f, 0x8b) {
    private val TrailerBytes = 8

    def read(data: Array[Byte], maxBytes: Int): Option[Array[Byte]] = {
      val stream = new Stream(data)
      upTo(maxBytes, stream)(stream.bytesAfter)
    }

    /** Java ignores bytes after the last member. With all data in its buffer, it counts them. */
    private final class Stream(data: Array[Byte])
        extends GZIPInputStream(new ByteArrayInputStream(data), data.length) {
      def bytesAfter: Int = inf.getRemaining - TrailerBytes
    }
  }

  private object Zlib extends Format("zlib", 0x78) {
    private val HeaderDivisor = 31

    override def begins(data: Array[Byte]): Boolean = super.begins(data) && data.length > 1 &&
      ByteBuffer.wrap(data).getShort % HeaderDivisor == 0

    def read(data: Array[Byte], maxBytes: Int): Option[Array[Byte]] = {
      val stream = new Stream(data)
      upTo(maxBytes, stream)(stream.bytesAfter)
    }

    private final class Stream(data: Array[Byte])
        extends InflaterInputStream(new ByteArrayInputStream(data)) {
      def bytesAfter: Int = inf.getRemaining + in.available
    }
  }

  private object Zstd extends Format("zstd", 0x28, 0xb5, 0x2f, 0xfd) {
    def read(data: Array[Byte], maxBytes: Int): Option[Array[Byte]] =
      upTo(maxBytes, new ZstdInputStream(new ByteArrayInputStream(data)))(0)
  }

  private def upTo(maxBytes: Int, stream: InputStream)(bytesAfter: => Int): Option[Array[Byte]] =
    try {
      val found = stream.readNBytes(maxBytes)
      Option.when(stream.read() < 0) {
        if (bytesAfter != 0) throw new IOException("other bytes follow")
        found
      }
    } finally stream.close()

  /**
   * Snappy blocks in a container. The readers in snappy-java allocate whatever size a block claims,
   * so a few damaged bytes could take gigabytes.
   */
  private sealed abstract class SnappyContainer(header: Int, first: Int*)
      extends Format("snappy", first: _*) {

    /** Takes the next block, and gives what it contains if that is not more than `room` bytes. */
    protected def take(rest: ByteBuffer, room: Int): Option[Array[Byte]]

    def read(data: Array[Byte], maxBytes: Int): Option[Array[Byte]] = {
      val rest = ByteBuffer.wrap(data)
      val result = new ByteArrayOutputStream
      @tailrec
      def blocks(): Option[Array[Byte]] =
        if (!rest.hasRemaining) Some(result.toByteArray)
        else
          take(rest, maxBytes - result.size) match {
            case None => None
            case Some(block) =>
              result.write(block, 0, block.length)
              blocks()
          }
      bytes(rest, header)
      blocks()
    }
  }

  private def bytes(rest: ByteBuffer, count: Int): Array[Byte] = {
    if (count < 0 || count > rest.remaining) throw new BufferUnderflowException
    val found = new Array[Byte](count)
    rest.get(found)
    found
  }

  private def uncompressed(block: Array[Byte], room: Int): Option[Array[Byte]] =
    Option.when(Snappy.uncompressedLength(block) <= room)(Snappy.uncompress(block))

  /** What snappy-java's `SnappyOutputStream` writes: blocks behind their lengths. */
  private object SnappyBlocks
      extends SnappyContainer(16, 0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0x00) {
    protected def take(rest: ByteBuffer, room: Int): Option[Array[Byte]] =
      uncompressed(bytes(rest, rest.order(BIG_ENDIAN).getInt), room)
  }

  /** Snappy's framing format: chunks with a type, a length and a checksum. */
  private object SnappyFrames
      extends SnappyContainer(10, 0xff, 0x06, 0x00, 0x00, 's', 'N', 'a', 'P', 'p', 'Y') {
    private val FirstSkippable = 0x80
    private val Mask = 0xa282ead8

    protected def take(rest: ByteBuffer, room: Int): Option[Array[Byte]] = {
      val chunk = rest.order(LITTLE_ENDIAN).getInt
      val kind = chunk & 0xff
      val content = ByteBuffer.wrap(bytes(rest, chunk >>> 8)).order(LITTLE_ENDIAN)
      if (kind >= FirstSkippable) Some(Array.empty[Byte])
      else if (kind > 1) throw new IOException(s"a chunk of the unknown type $kind")
      else {
        val checksum = content.getInt
        val block = bytes(content, content.remaining)
        val found =
          if (kind == 0) uncompressed(block, room) else Option.when(block.length <= room)(block)
        if (found.exists(masked(_) != checksum)) throw new IOException("a wrong checksum")
        found
      }
    }

    private def masked(content: Array[Byte]): Int = {
      val crc = new CRC32C
      crc.update(content, 0, content.length)
      Integer.rotateRight(crc.getValue.toInt, 15) + Mask
    }
  }
}
