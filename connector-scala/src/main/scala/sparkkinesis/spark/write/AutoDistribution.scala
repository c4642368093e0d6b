package sparkkinesis.spark.write

import java.util.concurrent.ConcurrentHashMap

import org.slf4j.LoggerFactory

import sparkkinesis.client.StreamSummary
import sparkkinesis.compat._
import sparkkinesis.model.{RecordDistribution, StreamRef}
import sparkkinesis.sink.SinkOptions
import sparkkinesis.spark.errors.ConnectorError

/** Streams of which the service chooses the shard of each record, whatever its partition key. */
private[spark] object AutoDistribution {

  /** Whether the options need the records of a key in one shard. */
  def matters(options: SinkOptions): Boolean = problems(options).nonEmpty

  /**
   * Some servers do not say what the strategy is. None of those that we know has AUTO, so this is
   * only a warning.
   *
   * @throws ConnectorError if the options need the records of a key in one shard
   */
  def refuse(stream: StreamRef, summary: StreamSummary, options: SinkOptions): Unit =
    problems(options).headOption.foreach { case (because, remedy) =>
      summary.distribution match {
        case Some(RecordDistribution.UserPartitionKey) => ()
        case Some(RecordDistribution.Auto) =>
          throw ConnectorError(
            "KINESIS_AUTO_DISTRIBUTION",
            s"Stream $stream has record distribution strategy AUTO, which $because. Set option " +
              s"$remedy, or set the strategy of the stream to " +
              s"${RecordDistribution.UserPartitionKey.name}."
          )
        case None => warn(stream, because)
      }
    }

  private def warn(stream: StreamRef, because: String): Unit =
    if (unknown.add(stream))
      log.warn(
        s"The service does not say which record distribution strategy stream $stream has. Check " +
          s"that it is ${RecordDistribution.UserPartitionKey.name}: strategy AUTO $because."
      )

  /** The streams that a warning was about. */
  private val unknown = ConcurrentHashMap.newKeySet[StreamRef]()
  private val log = LoggerFactory.getLogger("sparkkinesis.spark.write.AutoDistribution")

  /** Why the options need it, and their remedies. */
  private def problems(options: SinkOptions): Seq[(String, String)] =
    Seq(
      Option.when(options.isExactlyOnce)(
        "does not let the sink put a marker into each shard" -> "'deliveryGuarantee' to atLeastOnce"
      ),
      Option.when(options.isOrdered)(
        "keeps no order among the records of a partition key" -> "'ordering' to none"
      ),
      Option.when(options.aggregation.nonEmpty)(
        "places aggregates in shards where consumers drop their records" -> "'aggregation' to none"
      )
    ).flatten
}
