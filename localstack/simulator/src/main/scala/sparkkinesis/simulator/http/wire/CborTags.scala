package sparkkinesis.simulator.http.wire

import java.io.IOException

import scala.annotation.tailrec

/**
 * Refuses long chains of tags, because Jackson's CBOR parser needs quadratic time and memory to
 * read them: 600 MB for 50 KB of tags.
 */
private[http] object CborTags {

  /** Most tags in a row, more than any client sends: AWS's SDKs put one tag before a time. */
  private val MaxChain = 8

  private val Strings = Set(2, 3)
  private val Tag = 6

  /** Throws `IOException` if a value has more tags in a row. Malformed CBOR passes. */
  def check(bytes: Array[Byte]): Unit = after(bytes, 0, 0)

  /**
   * Goes from head to head, because nesting does not matter. Only the content of strings is
   * skipped.
   */
  @tailrec private def after(bytes: Array[Byte], at: Int, chain: Int): Unit =
    if (chain > MaxChain) throw new IOException(s"More than $MaxChain tags of one value.")
    else if (at < bytes.length) {
      val major = (bytes(at) & 0xff) >> 5
      val size = argumentSize(bytes(at) & 0x1f)
      val next = at.toLong + 1 + size +
        (if (Strings(major)) length(bytes, at, size) else 0L)
      if (next > 0 && next < bytes.length)
        after(bytes, next.toInt, if (major == Tag) chain + 1 else 0)
    }

  /** Number of bytes after the head. */
  private def argumentSize(info: Int): Int = info match {
    case 24 => 1
    case 25 => 2
    case 26 => 4
    case 27 => 8
    case _ => 0
  }

  /** Length of a string. The parts of a string of indefinite length have heads of their own. */
  private def length(bytes: Array[Byte], at: Int, size: Int): Long = {
    val info = bytes(at) & 0x1f
    if (info < 24) info.toLong
    else if (at + size >= bytes.length) bytes.length.toLong
    else
      (1 to size).foldLeft(0L)((sofar, i) => (sofar << 8) | (bytes(at + i) & 0xff)) match {
        case negative if negative < 0 => bytes.length.toLong
        case length => math.min(length, Int.MaxValue.toLong)
      }
  }
}
