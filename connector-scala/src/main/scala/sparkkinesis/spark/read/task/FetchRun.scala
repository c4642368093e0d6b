package sparkkinesis.spark.read.task

import sparkkinesis.client.StreamAccess
import sparkkinesis.model.StreamArn
import sparkkinesis.source.options.SourceOptions

/**
 * One run of a query. The driver sends it to executors with each task.
 *
 * @param id unique among all runs; also the name of the driver's RPC endpoint
 * @param streams how to reach each stream
 */
final case class FetchRun(
    id: String,
    options: SourceOptions,
    streams: Map[StreamArn, StreamAccess]
)
