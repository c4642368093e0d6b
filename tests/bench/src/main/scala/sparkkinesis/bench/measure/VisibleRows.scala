package sparkkinesis.bench.measure

import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}
import org.apache.spark.sql.{DataFrame, ForeachWriter, Row}

/**
 * Passes the rows of a query to a listener when user code receives them. There is one listener per
 * JVM, because tasks cannot carry one. Spark's tasks run in this JVM.
 */
object VisibleRows {
  @volatile private var listener: Array[Byte] => Unit = _ => ()

  /** Starts a query that passes the data of each row to the listener, on many threads. */
  def listen(
      rows: DataFrame,
      checkpoint: String,
      trigger: Trigger = Trigger.ProcessingTime(0)
  )(seen: Array[Byte] => Unit): StreamingQuery = {
    listener = seen
    val options = rows.select("data").writeStream.option("checkpointLocation", checkpoint)
    // Real-time mode requires this output mode. It changes nothing for rows without a state.
    options.outputMode("update").trigger(trigger).foreach(new VisibleRows).start()
  }
}

private final class VisibleRows extends ForeachWriter[Row] {
  override def open(partitionId: Long, epochId: Long): Boolean = true
  override def process(row: Row): Unit = VisibleRows.listener(row.getAs[Array[Byte]](0))
  override def close(error: Throwable): Unit = ()
}
