package sparkkinesis.sink.rate

import java.util.concurrent.ConcurrentHashMap

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import sparkkinesis.client._
import sparkkinesis.model.{ShardId, ShardMap, StreamRef}

/**
 * What all tasks of an executor share about a stream that they write to: its shards, the rate
 * limiter of each shard, and the limit of requests in flight. Thread-safe.
 *
 * @param client is closed by the caller
 * @param maxRecordBytes the stream's limit for data and partition key together
 * @param spreads number of open shards if the stream distributes records itself (`AUTO`)
 * @param writers number of executors that are expected to write to it at first
 */
private[sparkkinesis] final class TargetStream(
    val ref: StreamRef,
    val client: KinesisClient,
    val maxRecordBytes: Int,
    spreads: Option[Int],
    @volatile private var writers: Int,
    clock: Clock
) {

  /** The requests of all tasks of this executor. */
  private[sink] val requests: RequestLimit = new RequestLimit(writers)

  private[sink] val requestSize: RequestSize = new RequestSize(ref)

  private val listing = new SharedCall[ShardMap](spreads.map(_ => ShardMap.Whole))
  private val lister = new ShardLister(client, ref, ShardFilter.FromTrimHorizon)
  private val rates = new ConcurrentHashMap[ShardId, ShardRate]

  /**
   * The shards of the latest listing. Lists them if no task did so before.
   *
   * @param patience how long a failed listing is repeated, also if the stream is being resharded
   * @throws KinesisException if the listing fails
   */
  private[sink] def shards(patience: FiniteDuration = Duration.Zero): ShardMap =
    listing.last.getOrElse {
      Retry.within(patience, clock)(listing.after(None)(list()))
    }

  /** Whether `shards` returns at once. */
  private[sink] def isListed: Boolean = listing.last.isDefined

  /**
   * The current shards.
   *
   * @param stale the shards that the caller knows. If another task has listed newer ones, those are
   *   returned without a call
   * @throws KinesisException if the call fails; there is no retry
   */
  private[sink] def shardsAfter(stale: ShardMap): ShardMap = listing.after(Some(stale))(list())

  /** Sets the number of executors that are expected to write to it: where new rates start. */
  def expect(executors: Int): Unit = writers = executors

  private[sink] def rate(shard: ShardId, now: Long): ShardRate =
    rates.computeIfAbsent(shard, _ => new ShardRate(spreads.getOrElse(1), writers, now))

  /** Returns the same object as before if the shards did not change. */
  private def list(): ShardMap = {
    val map = ShardMap.of(lister.list().shards).getOrElse {
      throw new KinesisException.InUse(
        s"ListShards of stream $ref does not show an open shard for every hash key. " +
          "Check that the stream is ACTIVE, and run the query again."
      )
    }
    rates.keySet.retainAll(map.shards.toSet.asJava)
    listing.last.filter(_ == map).getOrElse(map)
  }
}
