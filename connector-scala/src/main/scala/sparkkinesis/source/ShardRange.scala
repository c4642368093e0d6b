package sparkkinesis.source

import java.time.Instant

import sparkkinesis.model._

/**
 * What one batch reads of one shard: behind `from`, up to and including `upTo`.
 *
 * @param upTo `After` a record or `Finished`, decided and logged before anything is read for the batch
 * @param completeAsOf of the shard at `from`: what arrived later is owed
 */
final case class ShardRange(
    shard: StreamShard,
    from: Progress,
    upTo: Progress,
    completeAsOf: Option[Instant] = None
) {
  override def toString: String = s"${shard.shard} ($from, $upTo]"
}
