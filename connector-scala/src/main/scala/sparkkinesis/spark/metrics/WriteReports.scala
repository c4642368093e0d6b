package sparkkinesis.spark.metrics

import scala.jdk.CollectionConverters._

import org.apache.spark.SparkContext
import org.apache.spark.sparkkinesis.TaskReports
import org.apache.spark.util.CollectionAccumulator

/** What the tasks of a write told the driver, batch after batch. Safe for several threads. */
private[spark] final class WriteReports {
  import WriteReports._

  private var batches = Vector.empty[Unread]

  /** Before a batch: where its tasks are to add their reports. */
  def begin(context: SparkContext): CollectionAccumulator[Array[Byte]] = synchronized {
    val reports = TaskReports.ofAllAttempts(context)
    batches = (batches :+ new Unread(reports)).takeRight(Kept)
    reports
  }

  /** What came since this was last asked. */
  def news(): Seq[TaskReport] = synchronized(batches.flatMap(_.next()))
}

private[spark] object WriteReports {

  /** A task that Spark ran twice may end after its batch: its report counts in the next. */
  private val Kept = 2

  private final class Unread(reports: CollectionAccumulator[Array[Byte]]) {
    private var read = 0

    def next(): Seq[TaskReport] = {
      val all = reports.value.asScala
      val unread = all.drop(read).map(TaskReport.parse).toVector
      read = all.size
      unread
    }
  }
}
