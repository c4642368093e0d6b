package sparkkinesis.spark

import scala.collection.mutable

import sparkkinesis.model.PutEntry
import sparkkinesis.sink.{RecordWriter, SinkMetrics}

/** A writer for each stream of a task. Owned by one thread. */
private[spark] final class StreamWriters(make: RoutedStream => RecordWriter) extends AutoCloseable {
  private val writers = mutable.LinkedHashMap.empty[RoutedStream, RecordWriter]

  def put(stream: RoutedStream, entry: PutEntry): Unit =
    writers.getOrElseUpdate(stream, make(stream)).put(entry)

  def flush(): Unit = writers.values.foreach(_.flush())

  def metrics: SinkMetrics = writers.values.map(_.metrics).foldLeft(SinkMetrics(0, 0, 0, 0, 0)) {
    (a, b) =>
      SinkMetrics(
        a.records + b.records,
        a.bytes + b.bytes,
        a.requests + b.requests,
        a.retried + b.retried,
        a.throttled + b.throttled
      )
  }

  override def close(): Unit = writers.values.foreach(_.close())
}
