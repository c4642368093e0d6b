package sparkkinesis.spark.read

import org.apache.spark.sql.connector.metric.CustomMetric
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream
import org.apache.spark.sql.connector.read.{Batch, Scan}
import org.apache.spark.sql.types.StructType

import sparkkinesis.client.options.OptionException
import sparkkinesis.model.StreamArn
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.source.replay.ReadBounds
import sparkkinesis.spark.errors.ConnectorError
import sparkkinesis.spark.lineage.KnownStreams
import sparkkinesis.spark.metrics.ReadMetrics
import sparkkinesis.spark.read.realtime.RealTimeClasses

/**
 * A read of one or more streams, batch or streaming.
 *
 * @param options of a streaming query
 * @param ofBatch the options of a batch read
 * @param bounds limits of a batch read, from the filters of the query
 * @param permit throws if the options may not be used
 */
private[spark] final class KinesisScan(
    options: SourceOptions,
    ofBatch: SourceOptions,
    bounds: ReadBounds,
    permit: () => Unit
) extends Scan
    with KnownStreams {
  private lazy val batch = new KinesisBatch(ofBatch, bounds)

  override def readSchema(): StructType = ReadOptions.schema(options.replay.nonEmpty)

  /**
   * Prevents that Spark plans the tasks in order to explain a query, because a plan calls the
   * service.
   */
  override def columnarSupportMode(): Scan.ColumnarSupportMode =
    Scan.ColumnarSupportMode.UNSUPPORTED

  override def description(): String =
    s"Kinesis[${options.names}${options.replay.fold("")(it => s", $it")}]"

  override def toBatch: Batch = ConnectorError.translating {
    permit()
    batch
  }

  override def toMicroBatchStream(checkpointLocation: String): MicroBatchStream =
    ConnectorError.translating {
      permit()
      if (options.end.nonEmpty)
        throw OptionException.conflicting(
          "Option 'endingPosition' applies to batch reads (spark.read), and this is a streaming " +
            "query. Remove it; a query with Trigger.AvailableNow ends by itself."
        )
      if (options.replay.nonEmpty)
        throw OptionException.conflicting(
          "Option 'replayCheckpoint' applies to batch reads (spark.read), and this is a " +
            "streaming query. Remove it, or read with spark.read."
        )
      if (RealTimeClasses.exist) RealTimeClasses.stream(options, checkpointLocation)
      else new KinesisMicroBatchStream(options, checkpointLocation)
    }

  override def supportedCustomMetrics(): Array[CustomMetric] = ReadMetrics.all

  /** Those of a batch read. The streams of a micro-batch are in its offsets. */
  override def knownStreams: Iterable[StreamArn] = batch.plannedStreams
}
