package sparkkinesis.bench.measure

/** The longest time without rows, after the first row. For many threads. */
final class RowGaps {
  private var seen = 0L
  private var last = 0L
  private var longestNanos = 0L

  def see(): Unit = synchronized {
    val now = System.nanoTime()
    if (seen > 0) longestNanos = math.max(longestNanos, now - last)
    seen += 1
    last = now
  }

  def count: Long = synchronized(seen)

  def longestMillis: Double = synchronized(longestNanos / 1e6)
}
