package sparkkinesis.spark.monitor

import java.util.UUID

import scala.collection.mutable

import org.apache.spark.sparkkinesis.PublishedMetrics
import org.apache.spark.sql.streaming.StreamingQueryListener
import org.apache.spark.sql.streaming.StreamingQueryListener._

/**
 * Publishes the metrics of each query that reads or writes Kinesis through Spark's metrics system.
 * `docs/how-to/monitoring.md` says how to use it.
 *
 * The names of the metrics begin with `spark_kinesis.` and the name of the query, or its ID if it
 * has no name. They are updated with each progress of the query, and removed when it ends.
 */
final class MetricsListener extends StreamingQueryListener {
  private val runs = mutable.Map.empty[UUID, PublishedMetrics] // Spark calls from one thread

  override def onQueryStarted(event: QueryStartedEvent): Unit = ()

  override def onQueryProgress(event: QueryProgressEvent): Unit = {
    val progress = event.progress
    val numbers = ProgressNumbers.of(progress)
    if (numbers.nonEmpty) {
      val query = Option(progress.name).getOrElse(progress.id.toString)
      runs
        .getOrElseUpdate(progress.runId, new PublishedMetrics(s"spark_kinesis.$query"))
        .publish(numbers)
    }
  }

  override def onQueryTerminated(event: QueryTerminatedEvent): Unit =
    runs.remove(event.runId).foreach(_.close())
}
