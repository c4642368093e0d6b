package sparkkinesis.source.pace

import java.util.concurrent.ConcurrentHashMap

import sparkkinesis.model.ShardId

/**
 * The pace of each shard of one stream, shared by all readers of one executor. Thread-safe.
 *
 * @param isAws whether the stream's endpoint is one of AWS, so that its quotas are known. At other
 *   endpoints reading shows whether there are quotas.
 */
final class StreamPaces(isAws: Boolean) {
  private val evidence = new QuotaEvidence(isAws)
  private val paces = new ConcurrentHashMap[ShardId, ReadPace]

  /** @param now in milliseconds since any instant */
  def of(shard: ShardId, now: Long): ReadPace =
    paces.computeIfAbsent(shard, _ => new ReadPace(evidence, now))

  /** The shard was read to its end. */
  def forget(shard: ShardId): Unit = {
    paces.remove(shard)
    ()
  }
}
