package sparkkinesis.sink.once

import java.nio.{ByteBuffer, LongBuffer}

import scala.annotation.tailrec

/**
 * Hashes in rising order, in the array that travels: 16 bytes each.
 *
 * @param bytes by [[SortedHashes.of]]
 */
private[once] final class SortedHashes(bytes: Array[Byte]) {
  private val longs: LongBuffer = ByteBuffer.wrap(bytes).asLongBuffer

  val size: Int = longs.limit() / 2

  def at(index: Int): Hash128 = Hash128(longs.get(2 * index), longs.get(2 * index + 1))

  /** Index of the first equal hash; negative if there is none. */
  def firstOf(hash: Hash128): Int = {
    @tailrec
    def search(from: Int, until: Int): Int =
      if (from == until) from
      else {
        val middle = (from + until) >>> 1
        if (isLess(middle, hash)) search(middle + 1, until) else search(from, middle)
      }
    val found = search(0, size)
    if (found < size && at(found) == hash) found else -1
  }

  /** Number of hashes from this index on that equal the one there. */
  def countEqual(index: Int): Int = {
    val first = at(index)
    Iterator.range(index, size).takeWhile(at(_) == first).size
  }

  private def isLess(index: Int, hash: Hash128): Boolean = {
    val byHigh = java.lang.Long.compareUnsigned(longs.get(2 * index), hash.hi)
    byHigh < 0 || byHigh == 0 &&
    java.lang.Long.compareUnsigned(longs.get(2 * index + 1), hash.lo) < 0
  }
}

object SortedHashes {
  private val Bits = 128

  /** Most bytes of one array. */
  val MostBytes: Long = Int.MaxValue.toLong

  /**
   * @param parts hashes in any order, by [[Hash128.encode]]
   * @throws OnceException if they do not fit in one array
   */
  def of(parts: Iterable[Array[Byte]]): Array[Byte] = {
    val all = parts.iterator.map(_.length.toLong).sum
    requireFits(all)
    val bytes = new Array[Byte](all.toInt)
    val target = ByteBuffer.wrap(bytes)
    parts.foreach(target.put)
    sort(ByteBuffer.wrap(bytes).asLongBuffer, 0, bytes.length / Hash128.Bytes, 0)
    bytes
  }

  /**
   * @param bytes of all hashes
   * @throws OnceException if these are too many
   */
  def requireFits(bytes: Long, most: Long = MostBytes): Unit =
    if (bytes > most) throw OnceException.tooManyRows(most / Hash128.Bytes)

  /** Sorts by one bit after the other, in place. Hashes differ early, so few bits are looked at. */
  private def sort(longs: LongBuffer, from: Int, until: Int, bit: Int): Unit =
    if (until - from > 1 && bit < Bits) {
      var (low, high) = (from, until)
      while (low < high)
        if (isSet(longs, low, bit)) {
          high -= 1
          swap(longs, 2 * low, 2 * high)
          swap(longs, 2 * low + 1, 2 * high + 1)
        } else low += 1
      sort(longs, from, low, bit + 1)
      sort(longs, low, until, bit + 1)
    }

  private def isSet(longs: LongBuffer, index: Int, bit: Int): Boolean =
    (longs.get(2 * index + bit / 64) << (bit % 64)) < 0

  private def swap(longs: LongBuffer, a: Int, b: Int): Unit = {
    val kept = longs.get(a)
    longs.put(a, longs.get(b)).put(b, kept): Unit
  }
}
