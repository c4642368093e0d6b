package sparkkinesis.simulator.http.wire

import java.io.IOException

import scala.annotation.tailrec

/**
 * Keeps chains of tags from Jackson's CBOR parser, which takes quadratic time and memory to read
 * them: 50 KB of tags cost it 600 MB.
 */
private[http] object CborTags {

  /** More than any client nests: AWS's SDKs tag times, once. */
  private val MaxChain = 8

  private val Strings = Set(2, 3)
  private val Tag = 6

  /** Throws `IOException` where a value has more tags than that. Broken CBOR passes. */
  def check(bytes: Array[Byte]): Unit = after(bytes, 0, 0)

  /** Heads follow each other, whatever is nested in what; only strings have to be stepped over. */
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

  /** Bytes behind the head. */
  private def argumentSize(info: Int): Int = info match {
    case 24 => 1
    case 25 => 2
    case 26 => 4
    case 27 => 8
    case _ => 0
  }

  /** Of a string; one of indefinite length has parts with heads of their own. */
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
