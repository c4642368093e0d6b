package sparkkinesis.source.protocol

import java.time.Instant

import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.Progress

/**
 * What one batch reads of one shard: behind `from`, up to and including `upTo`.
 *
 * @param upTo `After` a record or `Finished`, decided and logged before anything is read for the batch
 * @param completeAsOf of the shard at `from`: what arrived later is owed
 * @param until where a batch read ends by time; `upTo` is `Finished` then
 */
final case class ShardRange(
    shard: StreamShard,
    from: Progress,
    upTo: Progress,
    completeAsOf: Option[Instant] = None,
    until: Option[ReadUntil] = None
) {
  override def toString: String = until match {
    case None => s"${shard.shard} ($from, $upTo]"
    case Some(end) => s"${shard.shard} ($from, before ${Instant.ofEpochMilli(end.millis)})"
  }
}

/**
 * The first record that arrived at that time or later is not read, nor what lies behind it. The time is
 * over when reading begins, so at the shard's tip there is nothing more to come.
 *
 * @param millis since 1970 UTC
 * @param withChildren whether the shard's children, of which the plan knew none, are read in its place
 *   once it has ended
 */
final case class ReadUntil(millis: Long, withChildren: Boolean)
