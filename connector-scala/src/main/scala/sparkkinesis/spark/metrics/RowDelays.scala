package sparkkinesis.spark.metrics

import scala.jdk.CollectionConverters._

import org.apache.spark.sparkkinesis.Messages
import org.apache.spark.util.CollectionAccumulator
import org.apache.spark.{SparkContext, TaskContext}

import sparkkinesis.client.{Clock, SystemClock}
import sparkkinesis.shard.Durations

/**
 * How long the records of a streaming query took from their arrival in Kinesis to a task. The tasks
 * report it to the driver when they end.
 */
private[spark] final class RowDelays private (reports: CollectionAccumulator[Array[Byte]])
    extends Serializable {

  /** Counts the records of the task that runs in this thread. */
  def ofTask(): TaskDelays = {
    val delays = new TaskDelays(SystemClock)
    Option(TaskContext.get()).foreach(_.addTaskCompletionListener[Unit] { _ =>
      val durations = delays.durations
      if (durations != Durations.Zero) reports.add(Messages.encode(durations))
    })
    delays
  }

  /** On the driver: the delays that successful tasks have reported since the last call. */
  def news(): Durations =
    if (reports.isZero) Durations.Zero
    else {
      val all = reports.value.asScala.map(Messages.decode[Durations](_))
      reports.reset()
      all.foldLeft(Durations.Zero)(_ + _)
    }
}

private[spark] object RowDelays {
  def apply(context: SparkContext): RowDelays =
    new RowDelays(context.collectionAccumulator[Array[Byte]])
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
    counts(Durations.bucketOf(math.max(0L, now - arrivalMillis))) += 1
  }

  def durations: Durations = Durations.of(counts(_))
}

private object TaskDelays {

  /** A look at the clock per record would cost a few percent of the time. */
  private val RecordsPerLook = 16
}
