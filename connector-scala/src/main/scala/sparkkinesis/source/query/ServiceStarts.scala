package sparkkinesis.source.query

import sparkkinesis.compat._
import sparkkinesis.shard.SourceException
import sparkkinesis.source.plan.ExecutorTable

/**
 * Starts fetch services on executors that have none, with small Spark jobs. It does not wait for
 * the jobs, because another query may occupy the slots. A task that reads also starts a service.
 *
 * @param names of the streams, for messages
 */
private[query] final class ServiceStarts(names: String, executors: ExecutorTable) {
  import ServiceStarts._

  private var schedule = StartSchedule.Empty
  private var lookAt = 0L // the next tick at which to look for executors
  private var isLooking = false // for executors
  private var isRunning = false // whether a job is
  private var hasSucceeded = false // whether the last job has
  private var problem = Option.empty[SourceException]

  /** Looks for executors without a service every 2 s at most, and runs one job at a time. */
  def due(): Option[Command] = {
    val now = executors.ticks
    val isSilent = executors.live.isEmpty && hasSucceeded
    schedule = schedule.looked(now, isSilent, executors.lastHeard)
    Option.when(now >= lookAt && !isRunning && !isLooking) {
      lookAt = now + LookTicks
      isLooking = true
      Command.FindExecutors
    }
  }

  /** Whether services are about to be started: consumers may have to be registered before. */
  def isBeginning: Boolean = isLooking

  /**
   * Starts at most one service per shard: Spark keeps executors that have one.
   *
   * @param shards that are read ahead, or wait for an executor
   */
  def executorsFound(all: Map[String, String], shards: Int): Option[Command] = {
    isLooking = false
    // Before the first executor exists, a job asks Spark for one.
    val missing = if (all.isEmpty) Set(Anywhere) else all.keySet.diff(executors.live)
    val most = shards - executors.live.size
    val due = schedule.due(missing, most, executors.ticks)
    schedule = schedule.asked(due, missing, executors.ticks)
    Option.when(due.nonEmpty) {
      isRunning = true
      hasSucceeded = false
      Command.StartServices(all.view.filterKeys(due).toMap)
    }
  }

  def ended(failure: Option[Throwable]): Unit = {
    isRunning = false
    hasSucceeded = failure.isEmpty
    problem = failure.map { cause =>
      new SourceException(
        "KINESIS_EXECUTOR_FAILED",
        s"Reading ahead of $names could not start on an executor: ${cause.getMessage} Check that " +
          "driver and executors have the same version of the connector, for example with " +
          "'spark.jars', and find the cause in the log of the executor."
      )
    }
  }

  /** No service can start, or none can reach the driver. */
  def failure: Option[SourceException] = problem.orElse {
    Option.when(schedule.isTooSilent(executors.ticks))(
      new SourceException(
        "KINESIS_EXECUTOR_UNREACHABLE",
        s"Reading ahead of $names was started, but no executor reports to the driver. Check that " +
          "executors can connect to the driver ('spark.driver.host', 'spark.driver.port'), and " +
          "find the cause in the log of the executor, or of the driver, which may have refused it."
      )
    )
  }
}

private object ServiceStarts {
  private val LookTicks = 4L

  /** Stands for any executor. */
  private val Anywhere = ""
}

/**
 * The ticks of the driver at which to ask again for a service on an executor, and how long a
 * service that was started has not reported. The pause doubles while the executor has none, for
 * example because another query occupies its slots.
 *
 * @param startedAt the tick of the last job
 * @param silentSince the tick since which a service should have reported
 */
private final case class StartSchedule(
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

private object StartSchedule {

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
