package sparkkinesis.spark.read

import sparkkinesis.compat._

/**
 * The ticks of the driver at which to ask again for a service on an executor, and how long a
 * service that was started has not reported. The pause doubles while the executor has none, for
 * example because another query occupies its slots.
 *
 * @param startedAt the tick of the last job
 * @param silentSince the tick since which a service should have reported
 */
final case class StartSchedule(
    asks: Map[String, StartSchedule.Ask],
    startedAt: Long,
    silentSince: Option[Long]
) {

  /**
   * The schedule after a look at the executors.
   *
   * @param isSilent whether the last job has started a service, and no executor reports
   * @param lastHeard the tick of the last report of any executor
   */
  def looked(now: Long, isSilent: Boolean, lastHeard: Long): StartSchedule = {
    val since = Option.when(isSilent && lastHeard < startedAt)(silentSince.getOrElse(now))
    copy(silentSince = since)
  }

  /** A service reports as soon as it runs. */
  def isTooSilent(now: Long): Boolean = silentSince.exists(now - _ > StartSchedule.MostSilentTicks)

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
    copy(
      asks = asks.view.filterKeys(missing).toMap ++ again,
      startedAt = if (executors.isEmpty) startedAt else now
    )
  }
}

object StartSchedule {

  /** @param pause the pause that ends at `next` */
  final case class Ask(next: Long, pause: Long) {

    /** Whether the service probably starts just now. */
    def isStarting(now: Long): Boolean = pause == FirstPause && now < next
  }

  val Empty: StartSchedule = StartSchedule(Map.empty, startedAt = 0, silentSince = None)

  /**
   * 30 s: shorter than the longest pause between two jobs, and longer than the loss of an executor
   * takes.
   */
  private val MostSilentTicks = 60L
  private val FirstPause = 8L // 4 s
  private val LongestPause = 120L // 1 min
}
