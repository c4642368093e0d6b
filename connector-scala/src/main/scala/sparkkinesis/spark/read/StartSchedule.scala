package sparkkinesis.spark.read

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.compat._

/**
 * The times, of a clock that never jumps, at which to ask again for a service on an executor. The
 * pause doubles while the executor has none, for example because another query occupies its slots.
 */
final case class StartSchedule(asks: Map[String, StartSchedule.Ask]) {

  /**
   * The missing executors that are due: first those that were not asked before.
   *
   * @param most number of services to start, including those that start now
   */
  def due(missing: Set[String], most: Int, now: Instant): Set[String] = {
    val starting = asks.valuesIterator.count(_.isStarting(now))
    val due = missing.filter(id => asks.get(id).forall(ask => !now.isBefore(ask.next)))
    due.toSeq.sortBy(id => asks.contains(id) -> id).take(most - starting).toSet
  }

  /**
   * The schedule after these executors were asked. An executor that is no longer missing is
   * forgotten.
   */
  def asked(executors: Set[String], missing: Set[String], now: Instant): StartSchedule = {
    val again = executors.map { id =>
      val pause = asks.get(id).fold(StartSchedule.FirstPause) { ask =>
        (ask.pause * 2).min(StartSchedule.LongestPause)
      }
      id -> StartSchedule.Ask(now.plusMillis(pause.toMillis), pause)
    }
    StartSchedule(asks.view.filterKeys(missing).toMap ++ again)
  }
}

object StartSchedule {

  /** @param pause the pause that ends at `next` */
  final case class Ask(next: Instant, pause: FiniteDuration) {

    /** Whether the service probably starts just now. */
    def isStarting(now: Instant): Boolean = pause == FirstPause && now.isBefore(next)
  }

  val Empty: StartSchedule = StartSchedule(Map.empty)
  private val FirstPause = 4.seconds
  private val LongestPause = 1.minute
}
