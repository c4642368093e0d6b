package sparkkinesis.spark.read.task

import java.util.concurrent.ConcurrentHashMap

/** What this JVM has for each query run, at most one of a kind. Safe for many threads. */
private[read] final class PerRun[A <: AnyRef](isRunning: A => Boolean) {
  private val all = new ConcurrentHashMap[String, A]()

  /** The run's own. Starts one if none is running. */
  def ensure(run: String)(start: => A): A = synchronized {
    Option(all.get(run)).filter(isRunning).getOrElse {
      val started = start
      all.put(run, started)
      if (!isRunning(started)) all.remove(run, started) // it had no memory for a thread
      started
    }
  }

  /** The run's own has ended, if it is this one. */
  def ended(run: String)(isThis: A => Boolean): Unit =
    all.computeIfPresent(run, (_, it) => if (isThis(it)) null.asInstanceOf[A] else it): Unit

  /** Number of runs whose own has not ended. */
  def count: Int = all.size
}
