package sparkkinesis.source.realtime

import java.time.Instant

import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{ChildShard, SequenceNumber, StreamShard}

/**
 * Where a task begins to read a shard.
 *
 * @param completeAsOf see [[sparkkinesis.model.offset.ShardProgress]]
 * @param partial of the first record, what an earlier batch has read of it
 */
private[sparkkinesis] final case class RealTimeStart(
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
private[sparkkinesis] final case class PartialRecord(number: SequenceNumber, rows: Int)

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
private[sparkkinesis] final case class ReadUpTo(
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
private[sparkkinesis] final case class TaskEnd(
    ends: Seq[ReadUpTo],
    hasRun: Boolean,
    isRetry: Boolean
)
