package sparkkinesis.spark.monitor

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.streaming.StreamingQueryProgress

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
