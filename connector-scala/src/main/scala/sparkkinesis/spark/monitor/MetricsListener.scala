package sparkkinesis.spark.monitor

import java.util.UUID

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.spark.sparkkinesis.PublishedMetrics
import org.apache.spark.sql.streaming.StreamingQueryListener._
import org.apache.spark.sql.streaming.{StreamingQueryListener, StreamingQueryProgress}

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

/** The numbers of source and sink in the progress of a query: `docs/reference/metrics.md`. */
private[monitor] object ProgressNumbers {
  private val Source = "Kinesis["
  private val Sink = "kinesis"

  /**
   * The numbers by name: `source.` or `sink.` and the name of the metric. With several Kinesis
   * sources it is `source.<n>.`, where `n` is the number of the source in the query. Texts among
   * the metrics are left out. Empty if the query neither reads nor writes Kinesis.
   */
  def of(progress: StreamingQueryProgress): Map[String, Number] = {
    val sources = progress.sources.toSeq.zipWithIndex.collect {
      case (source, index) if source.description.startsWith(Source) =>
        index -> numbers(source.metrics.asScala)
    }
    val read = sources.flatMap { case (index, found) =>
      val prefix = if (sources.size > 1) s"source.$index." else "source."
      found.map { case (name, value) => (prefix + name) -> value }
    }
    val sink = progress.sink
    val isOurs = sink != null && sink.description == Sink
    val written =
      if (isOurs) numbers(sink.metrics.asScala).map { case (name, value) => s"sink.$name" -> value }
      else Map.empty[String, Number]
    read.toMap ++ written
  }

  private def numbers(metrics: scala.collection.Map[String, String]): Map[String, Number] =
    metrics.toMap.flatMap { case (name, text) => number(text).map(plain(name) -> _) }

  /** Spark's sinks take dots, and some take no slash. */
  private def plain(name: String) = name.replace('/', '.')

  private def number(text: String): Option[Number] =
    try Some(if (text.contains('.')) text.toDouble: Number else text.toLong: Number)
    catch { case _: NumberFormatException => None }
}
