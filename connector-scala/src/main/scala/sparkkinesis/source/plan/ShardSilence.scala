package sparkkinesis.source.plan

import scala.collection.mutable
import scala.concurrent.duration._

import sparkkinesis.compat._
import sparkkinesis.model.StreamShard

/**
 * When executors last reported a page of each shard, even an empty one. Its owner's lock guards it.
 */
private[source] final class ShardSilence {
  private val heard = mutable.Map.empty[StreamShard, FiniteDuration]

  /** @param at of a clock that only runs forward */
  def reported(shard: StreamShard, at: FiniteDuration): Unit = heard.update(shard, at)

  /**
   * The longest time without a report; of a shard without any report, since the first call that
   * names it.
   *
   * @param shards that are read now; the others are forgotten
   */
  def longest(shards: collection.Set[StreamShard], now: FiniteDuration): FiniteDuration = {
    heard.keySet.diff(shards).toVector.foreach(heard.remove)
    shards.foreach(heard.getOrElseUpdate(_, now))
    heard.valuesIterator.reduceOption(_ min _).fold(Duration.Zero)(now - _)
  }
}
