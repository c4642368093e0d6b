package sparkkinesis.source.scale

import java.lang.management.ManagementFactory

import scala.collection.mutable

/** What events cost the thread that handles them. */
final class Costs {
  import Costs._

  private val all = mutable.Map.empty[String, mutable.ArrayBuffer[Cost]]

  def of[A](kind: String)(event: => A): A = {
    val (nanos, bytes) = (thread.getCurrentThreadCpuTime, allocated)
    val result = event
    val cost = Cost((thread.getCurrentThreadCpuTime - nanos) / 1e6, allocated - bytes)
    all.getOrElseUpdate(kind, mutable.ArrayBuffer.empty) += cost
    result
  }

  def count(kind: String): Int = all.get(kind).fold(0)(_.size)

  def totalMillis(kind: String): Double = all.get(kind).fold(0.0)(_.iterator.map(_.millis).sum)

  /** CPU time that so many percent of the events do not exceed. */
  def millis(kind: String, percent: Int): Double = {
    val sorted = all(kind).map(_.millis).sorted
    sorted(math.ceil(sorted.size * percent / 100.0).toInt - 1)
  }

  /** Bytes that an event allocates on average: a measure of its work that no other load changes. */
  def bytes(kind: String): Double = all(kind).iterator.map(_.bytes.toDouble).sum / all(kind).size
}

private object Costs {
  private val thread =
    ManagementFactory.getThreadMXBean.asInstanceOf[com.sun.management.ThreadMXBean]

  private def allocated = thread.getThreadAllocatedBytes(Thread.currentThread.getId)

  private final case class Cost(millis: Double, bytes: Long)
}
