package sparkkinesis.sink.simulation

import java.time.Instant

import scala.collection.mutable
import scala.concurrent.duration._

import sparkkinesis.simulator.service.SimulatedClock

/** Events by time. Events of the same time happen in the order in which they were planned. */
final class Agenda {
  import Agenda._

  val clock = new SimulatedClock(Begin)
  private val events = mutable.PriorityQueue.empty[Event]
  private var planned = 0L

  /** The current time, in milliseconds. */
  def now: Long = clock.now.toEpochMilli

  /** Milliseconds since the beginning. */
  def elapsed: Long = now - Begin.toEpochMilli

  /** Plans an event for a time that is not over. */
  def at(time: Long)(action: => Unit): Unit = {
    planned += 1
    events += new Event(time, planned, () => action)
  }

  def after(millis: Long)(action: => Unit): Unit = at(now + math.max(0L, millis))(action)

  /**
   * Runs all events, until none is planned.
   *
   * @param bound time after which no event is expected any more
   */
  def run(bound: FiniteDuration): Unit = while (events.nonEmpty) {
    require(elapsed <= bound.toMillis, s"the history does not end within $bound")
    val event = events.dequeue()
    if (event.time > now) clock.advance((event.time - now).millis)
    event.action()
  }
}

private object Agenda {
  val Begin: Instant = Instant.parse("2026-01-01T00:00:00Z")

  final class Event(val time: Long, val number: Long, val action: () => Unit)

  implicit val byTime: Ordering[Event] =
    Ordering.by[Event, (Long, Long)](event => (event.time, event.number)).reverse
}
