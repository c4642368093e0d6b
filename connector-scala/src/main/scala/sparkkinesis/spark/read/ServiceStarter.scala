package sparkkinesis.spark.read

import java.time.Instant

import scala.concurrent.duration._

import org.apache.spark.SparkContext
import org.apache.spark.sparkkinesis.{Executors, SubmittedJob}

/**
 * Starts a run's fetch services on executors that have none, by small jobs which nobody waits for: the
 * slots may be another query's. A task that reads starts one too. Used by the query's thread alone.
 */
final class ServiceStarter(context: SparkContext, run: FetchRun) extends AutoCloseable {
  import ServiceStarter._

  private val keep = Executors.comeAndGo(context)
  private val name = s"spark-kinesis: start reading ahead of ${run.options.names}"
  private var schedule = StartSchedule.Empty
  private var lastLook: Option[Instant] = None
  private var jobs = Vector.empty[SubmittedJob] // the newest last

  /**
   * Asked often, looks seldom; never more than one job at a time.
   *
   * @param live executors whose services answer
   */
  def startMissing(now: Instant, live: Set[String]): Unit = {
    check()
    val isDue = lastLook.forall(last => !now.isBefore(last.plusMillis(LookPeriod.toMillis)))
    if (isDue && !jobs.exists(_.isRunning)) {
      lastLook = Some(now)
      val executors = Executors.all(context)
      // Before the first executor there is one to come, and to be asked for.
      val missing = if (executors.isEmpty) Set(Anywhere) else executors.keySet.diff(live)
      val due = schedule.due(missing, now)
      schedule = schedule.asked(due, missing, now)
      if (due.nonEmpty) submit(executors.view.filterKeys(due).toMap)
    }
  }

  /** @throws java.lang.Exception what made the last job fail: no service can start */
  def check(): Unit = jobs.lastOption.flatMap(_.failure).foreach(throw _)

  private def submit(executors: Map[String, String]): Unit = {
    val (kept, idle) = jobs.partition(_.isKept)
    idle.foreach(_.close())
    val started = run
    jobs = kept :+ Executors.submit(context, executors, name, keep) { () =>
      FetchRun.ensure(started): Unit
    }
  }

  override def close(): Unit = {
    jobs.foreach(_.close())
    jobs = Vector.empty
  }
}

object ServiceStarter {
  private val LookPeriod = 2.seconds

  /** No executor's name. */
  private val Anywhere = ""
}

/**
 * When to ask again for a service on an executor: ever later while it stays without, which is so where
 * its slots are another query's.
 */
final case class StartSchedule(asks: Map[String, StartSchedule.Ask]) {

  /** Those of the missing executors whose time it is. */
  def due(missing: Set[String], now: Instant): Set[String] =
    missing.filter(id => asks.get(id).forall(ask => !now.isBefore(ask.next)))

  /** These were asked now; who is not missing any more begins anew the next time. */
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

  /** @param pause that ends at `next` */
  final case class Ask(next: Instant, pause: FiniteDuration)

  val Empty: StartSchedule = StartSchedule(Map.empty)
  private val FirstPause = 4.seconds
  private val LongestPause = 1.minute
}
