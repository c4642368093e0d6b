package sparkkinesis.bench.measure

import java.util.concurrent.ConcurrentLinkedQueue

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import sparkkinesis.bench.raw.Waiting
import sparkkinesis.bench.server.LocalKinesis

/**
 * How fast a write was, as the server saw it: from the first record to the last. If the write ended
 * during the ramp, all figures are those of the whole write.
 *
 * @param ramp MB/s in the first seconds
 * @param steady MB/s after them
 * @param cpu CPU seconds of this process per GB, after the first seconds
 */
final case class WriteSpeed(ramp: Double, steady: Double, cpu: Double)

object WriteSpeed {
  private val Period = 100.millis

  /** The server keeps so much: it has less memory than a long write needs. */
  private val MostKept = 1000000000L

  /** Longer than the retention period. */
  private val Expiry = 25.hours

  /**
   * What the server has received so far.
   *
   * @param nanos of a clock that starts anywhere
   * @param cpuNanos CPU time of this process
   */
  final case class Point(nanos: Long, bytes: Long, cpuNanos: Long)

  /**
   * Measures a write to an idle server. Records of earlier gigabytes expire meanwhile.
   *
   * @param ramp length of the first part
   */
  def of(kinesis: LocalKinesis, ramp: FiniteDuration)(write: => Unit): WriteSpeed = {
    System.gc() // earlier garbage does not count
    val points = new ConcurrentLinkedQueue[Point]
    def look(): Point = {
      val bytes = ServerStats.of(kinesis.endpoint).bytesPut
      val point = Point(System.nanoTime(), bytes, Usage.cpuNanos)
      points.add(point)
      point
    }
    var kept = look().bytes
    val watch = new Thread(
      () =>
        try
          while (true) {
            Waiting.sleep(Period)
            val bytes = look().bytes
            if (bytes - kept > MostKept) {
              kinesis.advance(Expiry)
              kept = bytes
            }
          }
        catch { case _: InterruptedException => () },
      "bench-write-speed"
    )
    watch.setDaemon(true)
    watch.start()
    try write
    finally {
      watch.interrupt()
      watch.join()
    }
    look()
    of(points.asScala.toVector, ramp)
  }

  /** @param points in the order of time; the server receives something meanwhile */
  private[measure] def of(points: Seq[Point], ramp: FiniteDuration): WriteSpeed = {
    val begin = points.takeWhile(_.bytes == points.head.bytes).last
    val end = points.find(_.bytes == points.last.bytes).get
    val turn =
      points.find(it => it.nanos >= begin.nanos + ramp.toNanos && it.nanos < end.nanos)
    WriteSpeed(
      turn.fold(megabytesPerSecond(begin, end))(megabytesPerSecond(begin, _)),
      megabytesPerSecond(turn.getOrElse(begin), end),
      cpuSecondsPerGigabyte(turn.getOrElse(begin), end)
    )
  }

  private def megabytesPerSecond(from: Point, to: Point): Double =
    1e3 * (to.bytes - from.bytes) / (to.nanos - from.nanos)

  private def cpuSecondsPerGigabyte(from: Point, to: Point): Double =
    (to.cpuNanos - from.cpuNanos).toDouble / (to.bytes - from.bytes)
}
