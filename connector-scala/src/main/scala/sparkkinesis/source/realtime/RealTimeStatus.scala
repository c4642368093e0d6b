package sparkkinesis.source.realtime

import java.time.Instant

import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{ChildShard, SequenceNumber, StreamShard}
import sparkkinesis.source.protocol.{FetchCounters, FetchFailure, Heartbeat}

/**
 * Where a task begins to read a shard.
 *
 * @param completeAsOf see [[sparkkinesis.model.offset.ShardProgress]]
 * @param partial of the first record, what an earlier batch has read of it
 */
final case class RealTimeStart(
    shard: StreamShard,
    from: Progress,
    completeAsOf: Option[Instant],
    partial: Option[PartialRecord]
)

/**
 * A record of which a batch has read some rows: the sub-records of an aggregate.
 *
 * @param rows number of rows that were read, at least 1
 */
final case class PartialRecord(number: SequenceNumber, rows: Int)

/**
 * How far a task has read a shard.
 *
 * @param upTo the start of the batch if the task has read no whole record
 * @param partial of the record after `upTo`, what the task has read of it
 * @param children of the shard, if it is finished
 * @param millisBehind as Kinesis reported it last
 * @param completeAsOfMillis see [[sparkkinesis.source.protocol.FetchReport]]; 0 if unknown
 * @param first the first record, if nothing was read of the shard before
 */
final case class ReadUpTo(
    shard: StreamShard,
    upTo: Progress,
    partial: Option[PartialRecord],
    children: Seq[ChildShard],
    millisBehind: Long,
    completeAsOfMillis: Long,
    first: Option[SequenceNumber]
)

/**
 * Where a task has ended.
 *
 * @param hasRun whether Spark asked the task for a row before the end of the batch
 * @param isRetry whether an earlier attempt of the task has failed
 */
final case class TaskEnd(ends: Seq[ReadUpTo], hasRun: Boolean, isRetry: Boolean)

/**
 * A heartbeat of a service that reads for real-time tasks.
 *
 * @param shards that the executor reads
 * @param ended shards that its tasks have read to the end
 */
final case class RealTimeStatus(
    executor: String,
    host: String,
    service: String,
    counters: FetchCounters,
    shards: Map[StreamShard, RealTimeShardState],
    ended: Map[StreamShard, FinishedShard],
    failure: Option[FetchFailure],
    crash: Option[String]
) extends Heartbeat

/**
 * @param millisBehind as Kinesis reported it last
 * @param completeAsOfMillis see [[sparkkinesis.source.protocol.FetchReport]]; 0 if unknown
 * @param reports number of pages so far, with empty ones
 * @param isActive whether a task reads the shard; otherwise it is parked between two batches
 */
final case class RealTimeShardState(
    millisBehind: Long,
    completeAsOfMillis: Long,
    reports: Long,
    isActive: Boolean
)

/**
 * A shard that was read to its end.
 *
 * @param batch in which that was
 */
final case class FinishedShard(batch: Long, children: Seq[ChildShard])

/**
 * The driver's answer.
 *
 * @param isStopped whether the query has stopped, or another service of the executor reads for it
 * @param endedBatch tasks of this batch, and of earlier ones, end now
 * @param elsewhere shards that tasks of other executors read
 */
final case class RealTimeReply(isStopped: Boolean, endedBatch: Long, elsewhere: Set[StreamShard])
