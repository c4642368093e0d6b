package sparkkinesis.bench

import scala.collection.mutable
import scala.concurrent.duration._

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.{SparkListener, SparkListenerTaskEnd}

import sparkkinesis.spark.{ThrottledRecords, WrittenRecords}

/** What the sink's tasks say of themselves in Spark's UI, added up. */
final class TaskCounts private extends SparkListener {
  private val sums = mutable.Map.empty[String, Long].withDefaultValue(0L)

  override def onTaskEnd(end: SparkListenerTaskEnd): Unit = synchronized {
    for {
      info <- end.taskInfo.accumulables
      name <- info.name
      update <- info.update
    } update match {
      case count: Long => sums(name) += count
      case _ => ()
    }
  }

  def written: Long = of(new WrittenRecords().description)

  def throttled: Long = of(new ThrottledRecords().description)

  private def of(description: String): Long = synchronized(sums(description))
}

object TaskCounts {
  private val Limit = 30.seconds

  /** @param expected to be written by the body */
  def during(context: SparkContext, expected: Long)(body: => Unit): TaskCounts = {
    val counts = new TaskCounts
    context.addSparkListener(counts)
    try {
      body
      // Spark tells its listeners a little later.
      Waiting.until(s"tasks that wrote $expected records", Limit)(counts.written >= expected)
    } finally context.removeSparkListener(counts)
    counts
  }
}
