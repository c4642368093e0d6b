package sparkkinesis.spark.monitor

import java.util.{Collections, Map => JMap, UUID}

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.spark.sparkkinesis.PublishedMetrics
import org.apache.spark.sql.streaming.StreamingQueryListener._
import org.apache.spark.sql.streaming.{StreamingQueryListener, StreamingQueryProgress}

import sparkkinesis.spark.metrics.LiveSources

/**
 * Publishes the metrics of each query that reads or writes Kinesis through Spark's metrics system.
 * `docs/how-to/monitoring.md` says how to use it.
 *
 * The names of the metrics begin with `spark_kinesis.` and the name of the query, or its ID if it
 * has no name. They are updated with each progress of the query, and removed when it ends. A slow
 * batch has no progress, so the metrics that say how late a source is are computed when they are
 * read.
 */
final class MetricsListener extends StreamingQueryListener {
  private val runs = mutable.Map.empty[UUID, PublishedRun]

  override def onQueryStarted(event: QueryStartedEvent): Unit =
    known(event.runId, event.id, event.name): Unit

  override def onQueryProgress(event: QueryProgressEvent): Unit = {
    val progress = event.progress
    known(progress.runId, progress.id, progress.name).progressed(ProgressNumbers.of(progress))
  }

  override def onQueryTerminated(event: QueryTerminatedEvent): Unit =
    runs.synchronized(runs.remove(event.runId)).foreach { ended =>
      ended.close()
      // Spark has removed the numbers of all queries whose names begin with this one.
      val removed = runs.synchronized(runs.values.filter(_.query.startsWith(ended.query)).toVector)
      removed.foreach(_.again())
    }

  private def known(run: UUID, id: UUID, name: String): PublishedRun = runs.synchronized {
    runs.getOrElseUpdate(run, new PublishedRun(run.toString, Option(name).getOrElse(s"$id")))
  }
}

/**
 * What is published of one run of a query. Spark's threads of listeners and of the query call it.
 *
 * @param query its name
 */
private final class PublishedRun(run: String, val query: String) extends AutoCloseable {
  private var reported = Map.empty[String, Number] // by the last progress
  private var published = Option.empty[PublishedMetrics]
  private var asked: JMap[Integer, JMap[String, String]] = Collections.emptyMap()
  private var current = Map.empty[String, Number] // what the sources said when they were asked last
  private val watch = LiveSources.watch(run)(() => publish())
  publish()

  def progressed(numbers: Map[String, Number]): Unit = synchronized {
    reported = numbers
    publish()
  }

  /** Publishes all numbers again. */
  def again(): Unit = synchronized {
    published.foreach(_.close())
    published = None
    publish()
  }

  /** The first batch may be slow: what is needed for an alarm is published before it ends. */
  private def publish(): Unit = synchronized {
    val sources = LiveSources.numbers(run)
    val alarms = ProgressNumbers.named(sources.map(_ -> Map("maxProcessingLagMs" -> "0")).toMap)
    val numbers = alarms ++ reported
    if (numbers.nonEmpty) {
      if (published.isEmpty)
        published = Some(new PublishedMetrics(s"spark_kinesis.$query", () => now))
      published.foreach(_.publish(numbers))
    }
  }

  /**
   * A reader asks for each number on its own. While the sources say the same, they are the same.
   */
  private def now: Map[String, Number] = {
    val sources = LiveSources.metrics(run)
    synchronized {
      if (sources != asked) {
        asked = sources
        val all = sources.asScala.map { case (number, it) => number.intValue -> it.asScala }
        current = ProgressNumbers.named(all.toMap)
      }
      current
    }
  }

  override def close(): Unit = {
    watch.close()
    synchronized(published.foreach(_.close()))
  }
}

/** The numbers of source and sink in the progress of a query: `docs/reference/metrics.md`. */
private object ProgressNumbers {
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
        index -> source.metrics.asScala
    }
    val sink = progress.sink
    val isOurs = sink != null && sink.description == Sink
    val written =
      if (isOurs) numbers(sink.metrics.asScala).map { case (name, value) => s"sink.$name" -> value }
      else Map.empty[String, Number]
    named(sources.toMap) ++ written
  }

  /** @param sources the metrics of each Kinesis source, by its number in the query */
  def named(sources: Map[Int, scala.collection.Map[String, String]]): Map[String, Number] =
    sources.flatMap { case (index, metrics) =>
      val prefix = if (sources.size > 1) s"source.$index." else "source."
      numbers(metrics).map { case (name, value) => (prefix + name) -> value }
    }

  private def numbers(metrics: scala.collection.Map[String, String]): Map[String, Number] =
    metrics.toMap.flatMap { case (name, text) => number(text).map(plain(name) -> _) }

  /** Spark's sinks take dots, and some take no slash. */
  private def plain(name: String) = name.replace('/', '.')

  private def number(text: String): Option[Number] =
    try Some(if (text.contains('.')) text.toDouble: Number else text.toLong: Number)
    catch { case _: NumberFormatException => None }
}
