package sparkkinesis.bench.measure

import java.util.concurrent.atomic.AtomicLong

import scala.concurrent.duration._

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streaming.StreamingQueryListener
import org.apache.spark.sql.streaming.StreamingQueryListener._

import sparkkinesis.bench.raw.Waiting

/** Counts the rows of completed batches. */
private final class RowCount extends StreamingQueryListener {
  private val counted = new AtomicLong

  def rows: Long = counted.get

  override def onQueryStarted(event: QueryStartedEvent): Unit = ()

  override def onQueryProgress(event: QueryProgressEvent): Unit = {
    counted.addAndGet(event.progress.numInputRows)
    ()
  }

  override def onQueryTerminated(event: QueryTerminatedEvent): Unit = ()
}

object RowCount {
  private val Limit = 2.minutes

  /**
   * Runs a query into the `noop` sink.
   *
   * @return the usage from its start to the end of the batch with the last row
   * @throws IllegalStateException if there were more rows
   */
  def drain(rows: DataFrame, checkpoint: String, expected: Long): Usage = {
    val count = new RowCount
    val streams = rows.sparkSession.streams
    streams.addListener(count)
    try {
      val usage = run(rows, checkpoint, count, expected)
      if (count.rows != expected)
        throw new IllegalStateException(s"The source gave ${count.rows} rows for $expected.")
      usage
    } finally streams.removeListener(count)
  }

  /** The time to stop the query does not count. */
  private def run(rows: DataFrame, checkpoint: String, count: RowCount, expected: Long): Usage = {
    val end = Usage.begin()
    val query =
      rows.writeStream.format("noop").option("checkpointLocation", checkpoint).start()
    try {
      Waiting.until(s"$expected rows of the source", Limit) {
        query.exception.foreach(throw _)
        count.rows >= expected
      }
      end()
    } finally query.stop()
  }
}
