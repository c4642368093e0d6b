package sparkkinesis.bench.measure

import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.{DataFrame, ForeachWriter, Row}

/**
 * What a query makes of its rows at the moment they reach a user's code. In this JVM, where Spark's
 * tasks run too: they cannot carry a listener, so there is one for all.
 */
object VisibleRows {
  @volatile private var listener: Array[Byte] => Unit = _ => ()

  /** Starts a query that hands each row's data to the listener, on many threads. */
  def listen(rows: DataFrame, checkpoint: String)(seen: Array[Byte] => Unit): StreamingQuery = {
    listener = seen
    val options = rows.select("data").writeStream.option("checkpointLocation", checkpoint)
    options.foreach(new VisibleRows).start()
  }
}

private final class VisibleRows extends ForeachWriter[Row] {
  override def open(partitionId: Long, epochId: Long): Boolean = true
  override def process(row: Row): Unit = VisibleRows.listener(row.getAs[Array[Byte]](0))
  override def close(error: Throwable): Unit = ()
}
