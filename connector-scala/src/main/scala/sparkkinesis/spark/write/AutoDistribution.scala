package sparkkinesis.spark.write

import sparkkinesis.client.StreamSummary
import sparkkinesis.model.{RecordDistribution, StreamRef}
import sparkkinesis.sink.SinkOptions
import sparkkinesis.spark.errors.ConnectorError

/** Streams of which the service chooses the shard of each record, whatever its partition key. */
private[spark] object AutoDistribution {

  /** @throws ConnectorError if the options need the records of a key in one shard */
  def refuse(stream: StreamRef, summary: StreamSummary, options: SinkOptions): Unit =
    summary.distribution match {
      case RecordDistribution.UserPartitionKey => ()
      case RecordDistribution.Auto =>
        if (options.isExactlyOnce)
          throw refused(
            stream,
            "deliveryGuarantee",
            "atLeastOnce",
            "does not let the sink put a marker into each shard"
          )
        if (options.isOrdered)
          throw refused(
            stream,
            "ordering",
            "none",
            "keeps no order among the records of a partition key"
          )
        if (options.aggregation.nonEmpty)
          throw refused(
            stream,
            "aggregation",
            "none",
            "places aggregates in shards where consumers drop their records"
          )
    }

  private def refused(
      stream: StreamRef,
      option: String,
      value: String,
      because: String
  ): ConnectorError =
    ConnectorError(
      "KINESIS_AUTO_DISTRIBUTION",
      s"Stream $stream has record distribution strategy AUTO, which $because. Set option " +
        s"'$option' to $value, or set the strategy of the stream to " +
        s"${RecordDistribution.UserPartitionKey.name}."
    )
}
