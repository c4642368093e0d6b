package sparkkinesis.sink.once

import java.nio.{ByteBuffer, LongBuffer}

import scala.annotation.tailrec

import sparkkinesis.model.PutEntry

/**
 * The rows of a task that earlier attempts have written. Used by one thread.
 *
 * A row that is in the stream more often than in the task cannot be taken back. It does not show
 * that the task has other rows than before.
 *
 * @param inBatch rows that earlier runs of the batch wrote, in any partition
 * @param inRun rows that earlier attempts of this partition wrote in this run
 */
private[sparkkinesis] final class EarlierRows(inBatch: FoundRows, inRun: FoundRows) {
  private var taken = 0L

  /** Number of rows of earlier runs that the task has: those that it skipped, and their copies. */
  def skipped: Long = taken + inBatch.surplus

  /** Number of rows in the stream that are there too often. */
  def surplus: Long = inBatch.surplus + inRun.surplus

  /** Whether the row is in the stream already. Each call stands for one row. */
  def contains(entry: PutEntry): Boolean =
    if (inBatch.remaining == 0 && inRun.remaining == 0) false
    else {
      val hash = Hash128.ofRow(entry)
      val isFound = inRun.take(hash) || takeOfBatch(hash)
      if (isFound) Seq(inRun, inBatch).foreach(_.markSeen(hash))
      isFound
    }

  private def takeOfBatch(hash: Hash128): Boolean = {
    val isFound = inBatch.take(hash)
    if (isFound) taken += 1
    isFound
  }

  /**
   * Checks the rows when the task has no more of them.
   *
   * @throws OnceException if it lacks rows that an earlier attempt of the partition wrote
   */
  def checkEnd(): Unit =
    if (inRun.missing > 0) throw OnceException.notDeterministic(inRun.missing, "task")
}

/**
 * Rows that are in the stream already: a multiset of hashes. It copies no hash, so that the tasks
 * of an executor can share the array, and adds four bytes per row.
 *
 * @param sorted by [[SortedHashes.of]]; must not change
 */
private[sparkkinesis] final class FoundRows(sorted: Array[Byte]) {
  private val hashes = new SortedHashes(sorted)

  /** Marks at the first of equal hashes: 0, or 1 + the number taken if the task has such a row. */
  private val marks = new Array[Int](hashes.size)
  private var left = hashes.size

  /** Number of rows that were not taken. */
  def remaining: Int = left

  /** Number of rows that were not taken although the task has such a row: copies of it. */
  def surplus: Long =
    marks.indices.iterator
      .filter(marks(_) > 0)
      .map(it => hashes.countEqual(it) - marks(it) + 1L)
      .sum

  /** Number of rows that were not taken, and that the task does not have. */
  def missing: Long = left - surplus

  /** Takes one row with this hash; false if there is none. */
  def take(hash: Hash128): Boolean = {
    val first = markSeen(hash)
    val next = first + marks.lift(first).getOrElse(0) - 1
    val isLeft = first >= 0 && next < hashes.size && hashes.at(next) == hash
    if (isLeft) {
      marks(first) += 1
      left -= 1
    }
    isLeft
  }

  /**
   * The task has a row with this hash.
   *
   * @return index of the first equal hash; negative if there is none
   */
  def markSeen(hash: Hash128): Int = {
    val first = hashes.firstOf(hash)
    if (first >= 0) marks(first) = math.max(1, marks(first))
    first
  }
}

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

private[sparkkinesis] object SortedHashes {
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
