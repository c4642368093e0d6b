package sparkkinesis.source.realtime

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import sparkkinesis.client.Clock

/**
 * A clock that only a wait or a test moves. What a test has planned for a time happens in the wait.
 */
final class ScriptedClock extends Clock {
  private var millis = 0L
  private var plans = SortedMap.empty[Long, () => Unit]

  override def now: Instant = Instant.ofEpochMilli(millis)

  def pass(duration: FiniteDuration): Unit = millis += duration.toMillis

  def at(time: Long)(action: => Unit): Unit = plans += time -> (() => action)

  override def sleep(duration: FiniteDuration): Unit = pass(duration)

  override def await(monitor: AnyRef, duration: Long): Unit =
    plans.headOption.filter(_._1 <= millis + duration) match {
      case Some((time, action)) =>
        millis = time
        plans -= time
        action()
      case None => millis += duration
    }
}
