package sparkkinesis.spark.read.realtime

import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeMode

import sparkkinesis.source.options.SourceOptions
import sparkkinesis.spark.read.KinesisMicroBatchStream

/**
 * The source on Spark 4.1 and newer, where a query may run in real-time mode. Its superclass has
 * the methods of `SupportsRealTimeMode`; it cannot have the interface, which older Sparks lack.
 */
private[sparkkinesis] final class KinesisRealTimeStream(
    options: SourceOptions,
    checkpointLocation: String
) extends KinesisMicroBatchStream(options, checkpointLocation)
    with SupportsRealTimeMode {

  /** Spark calls this if the query has a real-time trigger. */
  override def prepareForRealTimeMode(): Unit = prepareRealTime()
}
