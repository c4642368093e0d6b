package sparkkinesis.model

/** The hash keys a shard owns, both ends included, as the service gives them. */
final case class HashKeyRange(first: HashKey, last: HashKey) {
  require(first <= last, s"A hash key range starts at or before its end, not [$first, $last].")

  def contains(key: HashKey): Boolean = first <= key && key <= last

  /** Whether the two together are one range: only then can their shards be merged. */
  def isAdjacentTo(that: HashKeyRange): Boolean =
    last.value + 1 == that.first.value || that.last.value + 1 == first.value

  /**
   * Cut so that `start` is the first key of the second half.
   *
   * @param start inside the range, and not its first key
   */
  def splitAt(start: HashKey): (HashKeyRange, HashKeyRange) = {
    require(first < start && start <= last, s"Cannot split $this at $start.")
    (HashKeyRange(first, HashKey(start.value - 1)), HashKeyRange(start, last))
  }

  /**
   * The range over both.
   *
   * @param that adjacent to this one
   */
  def merge(that: HashKeyRange): HashKeyRange = {
    require(isAdjacentTo(that), s"$this and $that are not adjacent.")
    if (first < that.first) HashKeyRange(first, that.last) else HashKeyRange(that.first, last)
  }

  override def toString: String = s"[$first, $last]"
}

object HashKeyRange {
  val All: HashKeyRange = HashKeyRange(HashKey.Min, HashKey.Max)

  /** All hash keys in `count` ranges as equal as they can be: a new stream's shards. */
  def even(count: Int): Seq[HashKeyRange] = {
    require(count > 0, s"A stream has at least one shard, not $count.")
    val size = (HashKey.Max.value + 1) / count
    (0 until count).map { i =>
      val last = if (i == count - 1) HashKey.Max else HashKey(size * (i + 1) - 1)
      HashKeyRange(HashKey(size * i), last)
    }
  }
}
