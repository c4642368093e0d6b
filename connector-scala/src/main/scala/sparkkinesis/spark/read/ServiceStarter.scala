package sparkkinesis.spark.read

import org.slf4j.LoggerFactory

import org.apache.spark.SparkContext
import org.apache.spark.sparkkinesis.{Executors, SubmittedJob}

import sparkkinesis.compat._
import sparkkinesis.source.plan.FetchCoordinator
import sparkkinesis.spark.errors.ConnectorError
import sparkkinesis.spark.read.task.{FetchRun, FetchServices}

/**
 * Starts fetch services on executors that have none, with small Spark jobs. It does not wait for
 * the jobs, because another query may occupy the slots. A task that reads also starts a service.
 * Only the query's thread uses it.
 */
final class ServiceStarter(context: SparkContext, run: FetchRun) extends AutoCloseable {
  import ServiceStarter._

  private val log = LoggerFactory.getLogger(classOf[ServiceStarter])
  private val keep = Executors.areDynamic(context)
  private val name = s"spark-kinesis: start reading ahead of ${run.options.names}"
  private var schedule = StartSchedule.Empty
  private var lookAt = 0L // the next tick at which to look for executors
  private var jobs = Vector.empty[SubmittedJob] // the newest last

  /**
   * Starts missing services, at most one per shard: Spark keeps executors that have one. Looks for
   * them every 2 s at most, and runs one job at a time.
   */
  def startMissing(coordinator: FetchCoordinator): Unit = {
    check()
    val (now, live) = (coordinator.ticks, coordinator.live)
    val isSilent = live.isEmpty && jobs.lastOption.exists(_.hasSucceeded)
    schedule = schedule.looked(now, isSilent, coordinator.lastHeard)
    if (schedule.isTooSilent(now))
      throw ConnectorError(
        "KINESIS_EXECUTOR_UNREACHABLE",
        s"Reading ahead of ${run.options.names} was started, but no executor reports to the " +
          "driver. Check that executors can connect to the driver ('spark.driver.host', " +
          "'spark.driver.port'), and find the cause in the log of the executor."
      )
    if (now >= lookAt && !jobs.exists(_.isRunning)) {
      lookAt = now + LookTicks
      val executors = Executors.all(context)
      // Before the first executor exists, a job asks Spark for one.
      val missing = if (executors.isEmpty) Set(Anywhere) else executors.keySet.diff(live)
      val due = schedule.due(missing, coordinator.readable - live.size, now)
      schedule = schedule.asked(due, missing, now)
      if (due.nonEmpty) submit(executors.view.filterKeys(due).toMap)
    }
  }

  /** @throws ConnectorError if the last job failed: no service can start */
  def check(): Unit = jobs.lastOption.flatMap(_.failure).foreach { cause =>
    log.warn(s"Starting to read ahead of ${run.options.names} failed.", cause)
    throw ConnectorError(
      "KINESIS_EXECUTOR_FAILED",
      s"Reading ahead of ${run.options.names} could not start on an executor: " +
        s"${cause.getMessage} Check that driver and executors have the same version of the " +
        "connector, for example with 'spark.jars', and find the cause in the log of the executor."
    )
  }

  private def submit(executors: Map[String, String]): Unit = {
    val (holding, idle) = jobs.partition(_.holdsBlocks)
    idle.foreach(_.close())
    val started = run
    jobs = holding :+ Executors.submit(context, executors, name, keep) { () =>
      FetchServices.ensure(started): Unit
    }
  }

  override def close(): Unit = {
    jobs.foreach(_.close())
    jobs = Vector.empty
  }
}

object ServiceStarter {
  private val LookTicks = 4L

  /** Stands for any executor. */
  private val Anywhere = ""
}
