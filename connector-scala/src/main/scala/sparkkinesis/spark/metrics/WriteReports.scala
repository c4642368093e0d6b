package sparkkinesis.spark.metrics

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import org.slf4j.LoggerFactory

import org.apache.spark.SparkContext
import org.apache.spark.sparkkinesis.{Messages, TaskReports}
import org.apache.spark.util.CollectionAccumulator

import sparkkinesis.client.{Clock, SystemClock}
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

/**
 * The counts of a task attempt that has ended. It travels as bytes, because the driver cannot
 * deserialize a class of a jar that the session added.
 *
 * @param isCommitted whether the attempt succeeded
 */
private[spark] final case class TaskReport(counts: WriteCounts, isCommitted: Boolean) {
  def toBytes: Array[Byte] = Messages.encode(this)
}

private[spark] object TaskReport {
  def parse(bytes: Array[Byte]): TaskReport = Messages.decode(bytes)
}

/**
 * Warns of hot shards, once per stream and some minutes: each batch of `foreachBatch` is a write of
 * its own. Thread-safe.
 */
private[metrics] final class HotShardLog(clock: Clock) {
  import HotShardLog._

  private var warnedAt = Map.empty[String, Long]

  def warn(hot: HotShard): Unit = synchronized {
    val now = clock.elapsedMillis
    warnedAt = warnedAt.filter { case (_, at) => now - at < Pause.toMillis }
    if (!warnedAt.contains(hot.traffic.stream)) {
      warnedAt += hot.traffic.stream -> now
      log.warn(hot.message)
    }
  }
}

private[metrics] object HotShardLog {
  private val log = LoggerFactory.getLogger(classOf[HotShardLog])
  private val Pause = 10.minutes

  /** The log of all writes of this driver. */
  val shared: HotShardLog = new HotShardLog(SystemClock)
}
