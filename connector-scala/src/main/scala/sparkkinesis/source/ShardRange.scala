package sparkkinesis.source

import sparkkinesis.model._

/**
 * What one batch reads of one shard: behind `from`, up to and including `upTo`.
 *
 * @param upTo `After` a record or `Finished`, decided and logged before anything is read for the batch
 */
final case class ShardRange(shard: ShardId, from: Progress, upTo: Progress) {
  override def toString: String = s"$shard ($from, $upTo]"
}
