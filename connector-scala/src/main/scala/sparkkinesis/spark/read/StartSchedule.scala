package sparkkinesis.spark.read

import sparkkinesis.compat._

/**
 * The ticks of the driver at which to ask again for a service on an executor. The pause doubles
 * while the executor has none, for example because another query occupies its slots.
 */
final case class StartSchedule(asks: Map[String, StartSchedule.Ask]) {

  /**
   * The missing executors that are due: first those that were not asked before.
   *
   * @param most number of services to start, including those that start now
   */
  def due(missing: Set[String], most: Int, now: Long): Set[String] = {
    val starting = asks.valuesIterator.count(_.isStarting(now))
    val due = missing.filter(id => asks.get(id).forall(ask => now >= ask.next))
    due.toSeq.sortBy(id => asks.contains(id) -> id).take(most - starting).toSet
  }

  /**
   * The schedule after these executors were asked. An executor that is no longer missing is
   * forgotten.
   */
  def asked(executors: Set[String], missing: Set[String], now: Long): StartSchedule = {
    val again = executors.map { id =>
      val pause = asks.get(id).fold(StartSchedule.FirstPause) { ask =>
        math.min(ask.pause * 2, StartSchedule.LongestPause)
      }
      id -> StartSchedule.Ask(now + pause, pause)
    }
    StartSchedule(asks.view.filterKeys(missing).toMap ++ again)
  }
}

object StartSchedule {

  /** @param pause the pause that ends at `next` */
  final case class Ask(next: Long, pause: Long) {

    /** Whether the service probably starts just now. */
    def isStarting(now: Long): Boolean = pause == FirstPause && now < next
  }

  val Empty: StartSchedule = StartSchedule(Map.empty)
  private val FirstPause = 8L // 4 s
  private val LongestPause = 120L // 1 min
}
