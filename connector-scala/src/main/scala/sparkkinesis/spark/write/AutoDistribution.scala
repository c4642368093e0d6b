package sparkkinesis.spark.write

import sparkkinesis.client.StreamSummary
import sparkkinesis.model.{RecordDistribution, StreamRef}
import sparkkinesis.sink.SinkOptions
import sparkkinesis.spark.ConnectorError

/** Streams whose records go to whatever shard the service chooses, heeding no key. */
private[spark] object AutoDistribution {

  /** @throws ConnectorError where the options need the records of a key to be together */
  def refuse(stream: StreamRef, summary: StreamSummary, options: SinkOptions): Unit =
    summary.distribution match {
      case RecordDistribution.UserPartitionKey => ()
      case RecordDistribution.Auto =>
        if (options.isOrdered)
          throw refused(stream, "ordering", "keeps no order among the records of a key")
        if (options.aggregation.nonEmpty)
          throw refused(stream, "aggregation", "puts aggregates where consumers drop their records")
    }

  private def refused(stream: StreamRef, option: String, because: String): ConnectorError =
    ConnectorError(
      "KINESIS_AUTO_DISTRIBUTION",
      s"Stream $stream chooses shards by itself (record distribution strategy AUTO), which $because. " +
        s"Set option '$option' to none, or the stream's strategy to " +
        s"${RecordDistribution.UserPartitionKey.name}."
    )
}
