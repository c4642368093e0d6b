package sparkkinesis.spark.metrics

import scala.jdk.CollectionConverters._

import org.apache.spark.util.CollectionAccumulator
import org.apache.spark.{SparkContext, TaskContext}

import sparkkinesis.client.{Clock, SystemClock}
import sparkkinesis.shard.Durations

/**
 * How long the records of a streaming query took from their arrival in Kinesis to a task. The tasks
 * report it to the driver when they end.
 */
private[spark] final class RowDelays private (reports: CollectionAccumulator[Array[Long]])
    extends Serializable {

  /** Counts the records of the task that runs in this thread. */
  def ofTask(): TaskDelays = {
    val delays = new TaskDelays(SystemClock)
    Option(TaskContext.get()).foreach(_.addTaskCompletionListener[Unit] { _ =>
      val report = delays.report
      if (report.nonEmpty) reports.add(report)
    })
    delays
  }

  /** On the driver: the delays that successful tasks have reported since the last call. */
  def news(): Durations =
    if (reports.isZero) Durations.Zero
    else RowDelays.sum(taken())

  /** A task may report at the same time. */
  private def taken(): Seq[Array[Long]] = reports.synchronized {
    val all = reports.value.asScala.toSeq
    reports.reset()
    all
  }
}

private[spark] object RowDelays {
  def apply(context: SparkContext): RowDelays =
    new RowDelays(context.collectionAccumulator[Array[Long]])

  /** @param reports of tasks: see [[TaskDelays.report]] */
  def sum(reports: Seq[Array[Long]]): Durations = {
    val counts = new Array[Long](Durations.Buckets)
    for (report <- reports; at <- report.indices by 2) counts(report(at).toInt) += report(at + 1)
    Durations.of(counts(_))
  }
}

/** Counts records by their delay, in one task. Used by the thread of the task. */
private[spark] final class TaskDelays(clock: Clock) {
  private val counts = new Array[Long](Durations.Buckets)
  private var now = 0L
  private var untilNextLook = 0

  /** A page begins. The task may have waited for it. */
  def beginPage(): Unit = untilNextLook = 0

  /**
   * The task hands out a record.
   *
   * @param arrivalMillis when it arrived, by the clock of Kinesis, which may be ahead of ours
   */
  def count(arrivalMillis: Long): Unit = {
    if (untilNextLook == 0) {
      now = clock.now.toEpochMilli
      untilNextLook = TaskDelays.RecordsPerLook
    }
    untilNextLook -= 1
    counts(Durations.bucketOf(now - arrivalMillis)) += 1
  }

  /**
   * Each bucket of [[Durations]] that has records, and after it their number. A batch may have
   * thousands of tasks, and an object would take several times as many bytes.
   */
  def report: Array[Long] =
    counts.indices.filter(counts(_) > 0).flatMap(it => Seq(it.toLong, counts(it))).toArray
}

private object TaskDelays {

  /** A look at the clock per record would cost a few percent of the time. */
  private val RecordsPerLook = 16
}
