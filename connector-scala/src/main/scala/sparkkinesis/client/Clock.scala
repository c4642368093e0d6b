package sparkkinesis.client

import java.time.Instant
import java.util.concurrent.ThreadLocalRandom

import scala.concurrent.duration._

/**
 * The time, waiting, and the jitter of waits. Code that needs them takes a clock as a parameter, so
 * that tests control it.
 */
private[sparkkinesis] trait Clock {
  def now: Instant

  /** Milliseconds since an arbitrary instant, never decreasing: for durations. */
  def elapsedMillis: Long = now.toEpochMilli

  /**
   * The elapsed time as an instant, which is not the time of day. A wrong or changed time of day
   * does not move it.
   */
  def steady: Instant = Instant.ofEpochMilli(elapsedMillis)

  def moment: Moment = Moment(now, steady)

  /** A number for jitter, evenly distributed in `[0, 1)`. In tests it is the mean. */
  def chance(): Double = 0.5

  /** Waits for the duration. Throws `InterruptedException`. */
  def sleep(duration: FiniteDuration): Unit

  /** Waits for a notification of an object, whose lock the caller holds, for at most `millis`. */
  def await(monitor: AnyRef, millis: Long): Unit = monitor.wait(math.max(1L, millis))
}

/**
 * One moment on two clocks.
 *
 * @param now the time of day, to compare with times of the service
 * @param steady to compare with other moments: see [[Clock.steady]]
 */
private[sparkkinesis] final case class Moment(now: Instant, steady: Instant) {

  /** The steady clock, as a duration. */
  def elapsed: FiniteDuration = FiniteDuration(steady.toEpochMilli, MILLISECONDS)

  /**
   * Milliseconds that passed by the time of day, but not by the steady clock, which may stand still
   * while a machine is suspended. Zero if none did.
   */
  def standstillSince(before: Moment): Long = {
    val byDay = now.toEpochMilli - before.now.toEpochMilli
    math.max(0L, byDay - (steady.toEpochMilli - before.steady.toEpochMilli))
  }
}

/** The clock of the machine. No other code reads it or draws random numbers for jitter. */
private[sparkkinesis] object SystemClock extends Clock {
  override def now: Instant = Instant.now()

  override def elapsedMillis: Long = System.nanoTime() / 1000000

  override def chance(): Double = ThreadLocalRandom.current().nextDouble()

  override def sleep(duration: FiniteDuration): Unit = Thread.sleep(duration.toMillis)
}
