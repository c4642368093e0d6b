package sparkkinesis.source.simulation.realtime

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.source.realtime.TaskEnd
import sparkkinesis.source.simulation.{Row, World}
import sparkkinesis.spark.read.realtime.RealTimePartition

/**
 * The tasks of a real-time batch, as Spark runs them: on free slots, and again if they fail. The
 * seed decides when they start, fail and end.
 *
 * @param endsAt when Spark ends the batch by its clock
 * @param onRow called with each row of an attempt that counts
 */
final class LiveJob(
    partitions: Vector[RealTimePartition],
    endsAt: Instant,
    world: World,
    cluster: LiveCluster,
    onRow: Row => Unit
) {
  import LiveJob._
  import world._

  private val tasks = partitions.map(new Task(_))

  def isDone: Boolean = tasks.forall(_.end.nonEmpty)

  /** Whether a task has failed too often. */
  def hasFailed: Boolean = tasks.exists(_.failures >= MostFailures)

  def ends: Vector[TaskEnd] = tasks.flatMap(_.end)

  /** The rows of the attempts that have not failed. */
  def rows: Vector[Row] = tasks.flatMap(_.attempt).flatMap(_.rows)

  def runningOn(executor: LiveExecutor): Int = tasks.count(_.runsOn(executor))

  def running: Int = tasks.count(_.isRunning)

  /** The driver schedules tasks. */
  def schedule(passed: FiniteDuration): Unit = {
    // Some tasks start late.
    for (task <- tasks if task.attempt.isEmpty && (isCalm || random.nextInt(3) > 0))
      cluster.slotFor(task.partition).foreach(task.start)
    tasks.foreach(_.waits(passed))
  }

  def work(): Unit = random.shuffle(tasks).foreach(_.work())

  /** Its tasks start again elsewhere. */
  def lose(executor: LiveExecutor): Unit =
    tasks.filter(_.runsOn(executor)).foreach(_.attempt = None)

  /** Spark gives up an attempt, which does not notice yet. */
  def abandon(): Option[LiveAttempt] = tasks.find(_.isRunning).flatMap { task =>
    val abandoned = task.attempt
    task.failed()
    abandoned
  }

  def fail(): Unit = tasks.find(_.isRunning).foreach { task =>
    task.attempt.foreach(_.fail())
    task.failed()
  }

  override def toString: String = tasks.mkString(", ")

  private final class Task(val partition: RealTimePartition) {
    var attempt: Option[LiveAttempt] = None
    var end: Option[TaskEnd] = None
    var failures = 0
    private var waited: FiniteDuration = Duration.Zero // without a reader

    def isRunning: Boolean = attempt.nonEmpty && end.isEmpty

    def runsOn(executor: LiveExecutor): Boolean =
      isRunning && attempt.exists(_.executor eq executor)

    def start(executor: LiveExecutor): Unit = counted {
      attempt = Some(
        new LiveAttempt(executor, partition, cluster.nextAttempt(), failures > 0, world)
      )
    }

    /** A shard without a reader is not left alone: the batch ends. */
    def waits(passed: FiniteDuration): Unit = {
      waited = if (attempt.nonEmpty) Duration.Zero else waited + passed
      require(waited < LongestWait, s"no task reads ${partition.starts} for $waited: $cluster")
    }

    def work(): Unit = for (running <- attempt if end.isEmpty) counted {
      val isLate = !clock.now.isBefore(endsAt)
      val most = if (isLate) 0 else 1 + random.nextInt(20)
      val found = running.read(most)
      found.foreach(onRow)
      if (isLate || found.size < most && running.isOver) end = Some(running.finish())
    }

    def failed(): Unit = {
      attempt = None
      failures += 1
    }

    private def counted(action: => Unit): Unit =
      try action
      catch {
        case _: IllegalStateException =>
          attempt.foreach(_.fail())
          failed()
      }

    override def toString: String = s"$partition by $attempt until $end, $failures failures"
  }
}

private object LiveJob {
  private val MostFailures = 4

  /** More than the driver's patience, and than the news needs to come to it and to the tasks. */
  private val LongestWait = 30.seconds
}
