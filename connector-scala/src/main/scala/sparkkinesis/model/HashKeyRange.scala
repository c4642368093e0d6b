package sparkkinesis.model

/** The hash keys of a shard. Both ends are inclusive, as in the API. */
private[sparkkinesis] final case class HashKeyRange(first: HashKey, last: HashKey) {
  require(first <= last, s"The first hash key of a range is at most the last, not [$first, $last].")

  def contains(key: HashKey): Boolean = first <= key && key <= last

  /** Whether each of its hash keys is in exactly one of the ranges, which may have others, too. */
  def isDividedInto(ranges: Seq[HashKeyRange]): Boolean = {
    val end = ranges.sortBy(_.first).foldLeft(Option(first.value)) { (next, range) =>
      next
        .filter(_ == range.first.value.max(first.value))
        .map(_ => range.last.value.min(last.value) + 1)
    }
    end.contains(last.value + 1)
  }

  /** The parts of it that are in none of the ranges, in order. */
  def without(ranges: Seq[HashKeyRange]): Seq[HashKeyRange] = {
    val all = ranges.sortBy(_.first)
    // Each gap is between the largest key so far and the next range.
    val begins = all.map(_.last.value + 1).scanLeft(first.value)(_ max _)
    val ends = all.map(_.first.value - 1) :+ last.value
    begins.zip(ends).map { case (begin, end) => begin -> end.min(last.value) }.collect {
      case (begin, end) if begin <= end => HashKeyRange(HashKey(begin), HashKey(end))
    }
  }

  /** The keys that are in both ranges. */
  def intersect(that: HashKeyRange): Option[HashKeyRange] = {
    val (begin, end) = (first.value.max(that.first.value), last.value.min(that.last.value))
    if (begin <= end) Some(HashKeyRange(HashKey(begin), HashKey(end))) else None
  }

  /** Whether both ranges together form one. Otherwise, their shards cannot be merged. */
  def isAdjacentTo(that: HashKeyRange): Boolean =
    last.value + 1 == that.first.value || that.last.value + 1 == first.value

  /**
   * Splits the range, so that `start` is the first key of the second half.
   *
   * @param start inside the range, but not its first key
   */
  def splitAt(start: HashKey): (HashKeyRange, HashKeyRange) = {
    require(first < start && start <= last, s"Cannot split $this at $start.")
    (HashKeyRange(first, HashKey(start.value - 1)), HashKeyRange(start, last))
  }

  /**
   * Merges the ranges.
   *
   * @param that must be adjacent to this range
   */
  def merge(that: HashKeyRange): HashKeyRange = {
    require(isAdjacentTo(that), s"$this and $that are not adjacent.")
    if (first < that.first) HashKeyRange(first, that.last) else HashKeyRange(that.first, last)
  }

  override def toString: String = s"[$first, $last]"
}

private[sparkkinesis] object HashKeyRange {
  val All: HashKeyRange = HashKeyRange(HashKey.Min, HashKey.Max)

  /**
   * Divides all hash keys into `count` ranges of almost equal size, like the shards of a new
   * stream.
   */
  def even(count: Int): Seq[HashKeyRange] = {
    require(count > 0, s"A stream has at least one shard, not $count.")
    val size = (HashKey.Max.value + 1) / count
    (0 until count).map { i =>
      val last = if (i == count - 1) HashKey.Max else HashKey(size * (i + 1) - 1)
      HashKeyRange(HashKey(size * i), last)
    }
  }
}
