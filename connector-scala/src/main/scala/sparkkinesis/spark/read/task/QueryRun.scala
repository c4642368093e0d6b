package sparkkinesis.spark.read.task

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.client.StreamAccess
import sparkkinesis.model.{ConsumerArn, StreamArn}
import sparkkinesis.source.options.SourceOptions

/**
 * A run of a query. The driver sends it to executors with each task.
 *
 * @param id unique among all runs; also the name of the driver's RPC endpoint
 * @param streams how to reach each stream
 * @param retention of streams, as the driver knows it
 * @param consumers of enhanced fan-out, by which executors read ahead; none of a stream that is
 *   polled
 */
private[sparkkinesis] final case class QueryRun(
    id: String,
    options: SourceOptions,
    streams: Map[StreamArn, StreamAccess],
    retention: Map[StreamArn, FiniteDuration],
    consumers: Map[StreamArn, ConsumerArn] = Map.empty
)
