package sparkkinesis.bench.raw

import java.util.concurrent.TimeoutException

import scala.annotation.tailrec
import scala.concurrent.duration._

/** Waiting that ends. */
object Waiting {
  private val Period = 5.millis

  /** @throws java.util.concurrent.TimeoutException where it does not become true in time */
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

  /** Not less than that. */
  def sleep(duration: FiniteDuration): Unit =
    Thread.sleep(math.ceil(duration.toNanos / 1e6).toLong)
}
