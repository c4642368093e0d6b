package sparkkinesis.sink.lane

import sparkkinesis.model.{PutEntry, ShardId, StreamRef}

/**
 * A record of the caller that its shard did not take in time.
 *
 * @param attempts number of requests that contained it. Zero: it waited for a shard that accepted
 *   nothing
 * @param lastError of these requests, or of others to the shard if there were none
 * @param mayBeWritten whether it may be in the stream
 */
final case class ExpiredRecord(
    stream: StreamRef,
    shard: ShardId,
    entry: PutEntry,
    attempts: Int,
    lastError: String,
    mayBeWritten: Boolean
)
