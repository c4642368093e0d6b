package sparkkinesis.source.protocol

import sparkkinesis.model.{ChildShard, StreamShard}

/**
 * What the fetch service of an executor tells the driver.
 *
 * @param executor its ID in Spark
 * @param host its host in Spark
 * @param reports of the pages that were read for micro-batches
 * @param failure ends the query if the shard is still assigned to this executor
 * @param knownVersion of the last [[HeartbeatReply]]; 0 before the first
 * @param crash why the service ends, although the query goes on. This ends the query
 * @param service tells apart the services of one executor: each class loader has its own
 * @param shards in real-time mode: the shards that the executor reads
 * @param ended in real-time mode: the shards that its tasks have read to the end
 */
private[sparkkinesis] final case class Heartbeat(
    executor: String,
    host: String,
    reports: Vector[FetchReport],
    counters: FetchCounters,
    failure: Option[FetchFailure],
    knownVersion: Long,
    crash: Option[String] = None,
    service: String = "",
    shards: Map[StreamShard, RealTimeShardState] = Map.empty,
    ended: Map[StreamShard, FinishedShard] = Map.empty
)

/**
 * @param millisBehind as Kinesis reported it last
 * @param completeAsOfMillis see [[FetchReport]]; 0 if unknown
 * @param reports number of pages so far, with empty ones
 * @param isActive whether a task reads the shard; otherwise it is parked between two batches
 * @param waitingSinceMillis arrival time of the first record of the pages that no task has handed
 *   out to their end; 0 if it is unknown; `None` without such a page
 */
private[sparkkinesis] final case class RealTimeShardState(
    millisBehind: Long,
    completeAsOfMillis: Long,
    reports: Long,
    isActive: Boolean,
    waitingSinceMillis: Option[Long] = None
)

/**
 * A shard that was read to its end.
 *
 * @param batch in which that was
 */
private[sparkkinesis] final case class FinishedShard(batch: Long, children: Seq[ChildShard])

/**
 * The driver's answer to a heartbeat.
 *
 * @param isStopped whether the query has stopped, or another service of the executor reads for it
 * @param plan `None` if nothing changed since the executor's known version
 * @param endedBatch in real-time mode: tasks of this batch, and of earlier ones, end now
 * @param elsewhere in real-time mode: shards that tasks of other executors read
 * @param closed in real-time mode: shards of the executor, at their tips, that are listed as closed
 */
private[sparkkinesis] final case class HeartbeatReply(
    version: Long,
    isStopped: Boolean,
    plan: Option[FetchPlan],
    endedBatch: Long = 0,
    elsewhere: Set[StreamShard] = Set.empty,
    closed: Set[StreamShard] = Set.empty
)
