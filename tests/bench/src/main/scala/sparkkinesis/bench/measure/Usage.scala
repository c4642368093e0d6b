package sparkkinesis.bench.measure

import java.lang.management.ManagementFactory

import com.sun.management.OperatingSystemMXBean

/** The time and the CPU time that a part of this process took. */
final case class Usage(seconds: Double, cpuSeconds: Double) {
  def megabytesPerSecond(bytes: Long): Double = bytes / 1e6 / seconds

  def cpuSecondsPerGigabyte(bytes: Long): Double = cpuSeconds / (bytes / 1e9)
}

object Usage {
  private val process = ManagementFactory.getPlatformMXBean(classOf[OperatingSystemMXBean])

  def of(body: => Unit): Usage = {
    val end = begin()
    body
    end()
  }

  /**
   * Starts a measurement after a garbage collection, so that earlier garbage does not count.
   *
   * @return call it at the end
   */
  def begin(): () => Usage = {
    System.gc()
    val (began, cpuBegan) = (System.nanoTime(), cpuNanos)
    () => Usage((System.nanoTime() - began) / 1e9, (cpuNanos - cpuBegan) / 1e9)
  }

  /** CPU time of this process since its start. */
  def cpuNanos: Long = process.getProcessCpuTime
}
