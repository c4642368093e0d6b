package sparkkinesis.spark.metrics

import scala.jdk.CollectionConverters._

import org.apache.spark.SparkContext
import org.apache.spark.sparkkinesis.TaskReports
import org.apache.spark.util.CollectionAccumulator

import sparkkinesis.sink.metrics.HotShard

/** The reports of a write's tasks, on the driver, batch after batch. Safe for several threads. */
private[spark] final class WriteReports(hotShards: HotShardLog = HotShardLog.shared) {
  import WriteReports._

  private var batches = Vector.empty[Batch]

  /** Call before each batch. Its tasks add their reports to the accumulator returned. */
  def begin(context: SparkContext): CollectionAccumulator[Array[Byte]] = synchronized {
    val reports = TaskReports.ofAllAttempts(context)
    batches = (batches :+ new Batch(reports)).takeRight(BatchesToRead)
    reports
  }

  /** The reports that arrived since the last call. Warns of a hot shard. */
  def news(): Seq[TaskReport] = synchronized {
    val reports = batches.flatMap(_.next())
    HotShard.of(WriteCounts.sum(reports.map(_.counts)).sink).foreach(hotShards.warn)
    reports
  }
}

private[spark] object WriteReports {

  /** A speculative copy of a task may end after its batch: its report counts in the next batch. */
  private val BatchesToRead = 2

  private final class Batch(reports: CollectionAccumulator[Array[Byte]]) {
    private var read = 0

    def next(): Seq[TaskReport] = {
      val all = reports.value.asScala
      val unread = all.drop(read).map(TaskReport.parse).toVector
      read = all.size
      unread
    }
  }
}
