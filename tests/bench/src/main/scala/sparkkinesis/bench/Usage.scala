package sparkkinesis.bench

import java.lang.management.ManagementFactory

import com.sun.management.OperatingSystemMXBean

/** What something took of this process: the time on the clock and of its processors. */
final case class Usage(seconds: Double, cpuSeconds: Double) {
  def megabytesPerSecond(bytes: Long): Double = bytes / 1e6 / seconds

  def cpuSecondsPerGigabyte(bytes: Long): Double = cpuSeconds / (bytes / 1e9)
}

object Usage {
  private val process = ManagementFactory.getPlatformMXBean(classOf[OperatingSystemMXBean])

  /** Garbage of what went before is collected first, at nobody's expense. */
  def of(body: => Unit): Usage = {
    System.gc()
    val (began, cpuBegan) = (System.nanoTime(), cpuNanos)
    body
    Usage((System.nanoTime() - began) / 1e9, (cpuNanos - cpuBegan) / 1e9)
  }

  private def cpuNanos: Long = process.getProcessCpuTime
}
