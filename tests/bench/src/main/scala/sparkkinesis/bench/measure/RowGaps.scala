package sparkkinesis.bench.measure

import scala.collection.mutable
import scala.concurrent.duration._

/** The times without rows, after the first row. For many threads. */
final class RowGaps {
  import RowGaps._

  private var seen = 0L
  private var last = 0L
  private val nanos = mutable.ArrayBuffer.empty[Long]

  def see(): Unit = synchronized {
    val now = System.nanoTime()
    if (seen > 0 && now - last >= Least.toNanos) nanos += now - last
    seen += 1
    last = now
  }

  def count: Long = synchronized(seen)

  /** Milliseconds of the longest times, at most so many of them. */
  def longest(count: Int): Seq[Double] = synchronized {
    nanos.sorted(Ordering[Long].reverse).take(count).map(_ / 1e6).toSeq
  }
}

private object RowGaps {

  /** Shorter times are not kept. */
  val Least: FiniteDuration = 1.milli
}
