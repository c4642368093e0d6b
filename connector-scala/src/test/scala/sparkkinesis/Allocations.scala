package sparkkinesis

import java.lang.management.ManagementFactory

/** The memory that the code of a thread allocates: a measure of its work that has no noise. */
object Allocations {

  /** Bytes that `body` allocates on this thread. */
  def in(body: => Unit): Long = ManagementFactory.getThreadMXBean match {
    case jvm: com.sun.management.ThreadMXBean =>
      def all = jvm.getThreadAllocatedBytes(Thread.currentThread.getId)
      val before = all
      body
      all - before
    case other => throw new UnsupportedOperationException(s"$other counts no allocated bytes.")
  }
}
