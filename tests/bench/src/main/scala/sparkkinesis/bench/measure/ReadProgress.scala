package sparkkinesis.bench.measure

import org.apache.spark.sql.streaming.StreamingQueryListener
import org.apache.spark.sql.streaming.StreamingQueryListener._

/** Sums up what one query reports with its batches. */
final class ReadProgress(name: String) extends StreamingQueryListener {
  private var rows, refused = 0L

  /** Rows of completed batches, and the source's calls that were refused up to the last one. */
  def sums: (Long, Long) = synchronized((rows, refused))

  override def onQueryStarted(event: QueryStartedEvent): Unit = ()

  override def onQueryProgress(event: QueryProgressEvent): Unit =
    if (event.progress.name == name) synchronized {
      rows += event.progress.numInputRows
      event.progress.sources.headOption
        .flatMap(source => Option(source.metrics.get("throttledRequests")))
        .foreach(count => refused = count.toLong)
    }

  override def onQueryTerminated(event: QueryTerminatedEvent): Unit = ()
}
