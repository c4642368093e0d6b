package sparkkinesis.bench.raw

import java.util.concurrent.TimeoutException

import scala.annotation.tailrec
import scala.concurrent.duration._

/** Waits for a condition or a time. */
object Waiting {
  private val Period = 5.millis

  /** @throws java.util.concurrent.TimeoutException if the condition does not hold in time */
  def until(what: String, limit: FiniteDuration, period: FiniteDuration = Period)(
      isTrue: => Boolean
  ): Unit = {
    val end = limit.fromNow
    @tailrec def again(): Unit =
      if (!isTrue) {
        if (end.isOverdue()) throw new TimeoutException(s"$what: not within $limit")
        sleep(period)
        again()
      }
    again()
  }

  /** Sleeps at least for that time. */
  def sleep(duration: FiniteDuration): Unit =
    Thread.sleep(math.ceil(duration.toNanos / 1e6).toLong)
}
