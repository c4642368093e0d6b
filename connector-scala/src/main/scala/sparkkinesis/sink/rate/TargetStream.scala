package sparkkinesis.sink.rate

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.locks.ReentrantLock

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import sparkkinesis.client._
import sparkkinesis.model.{ShardId, ShardMap, StreamRef}

/**
 * A stream as all tasks of an executor that write to it share it: its shards, and how fast each may
 * be written to. Safe for many threads.
 *
 * @param client closed by who made this
 * @param maxRecordBytes what it allows for data and partition key together
 * @param spreads whether it spreads records over its shards by itself (`AUTO`), and over how many
 * @param writers executors that are thought to write to it at first
 * @param chance evenly distributed in `[0, 1)`
 */
final class TargetStream(
    val ref: StreamRef,
    val client: KinesisClient,
    val maxRecordBytes: Int,
    spreads: Option[Int],
    @volatile private var writers: Int,
    clock: Clock,
    chance: () => Double
) {
  import TargetStream._

  private val listing = new ReentrantLock
  private val rates = new ConcurrentHashMap[ShardId, ShardRate]
  @volatile private var known = if (spreads.isDefined) Some(ShardMap.Whole) else None

  /**
   * The shards as they were last listed; lists them where nobody did yet.
   *
   * @throws KinesisException where that is not possible
   */
  private[sink] def shards: ShardMap = known.getOrElse(locked {
    known.getOrElse(Retrying(clock, chance)(list()))
  })

  /** Whether `shards` answers at once. */
  private[sink] def isListed: Boolean = known.isDefined

  /**
   * The shards of now.
   *
   * @param stale what the caller knows; where another knows better already, nothing is asked
   * @throws KinesisException where the one call fails
   */
  private[sink] def shardsAfter(stale: ShardMap): ShardMap = locked {
    known.filter(_ ne stale).getOrElse(list())
  }

  /** Who is interrupted does not wait here for another's call. */
  private def locked[A](body: => A): A = {
    listing.lockInterruptibly()
    try body
    finally listing.unlock()
  }

  /** So many executors are thought to write to it from now on. */
  def expect(executors: Int): Unit = writers = executors

  private[sink] def rate(shard: ShardId, now: Long): ShardRate =
    rates.computeIfAbsent(shard, _ => new ShardRate(spreads.getOrElse(1), () => writers, now))

  /** The same object as long as nothing changes. */
  private def list(): ShardMap = {
    val listed = ShardSnapshot.list(client, ref, ShardFilter.FromTrimHorizon).shards
    val map = ShardMap.of(listed).getOrElse {
      throw new KinesisException.InUse(
        s"ListShards of stream $ref does not show an open shard for every hash key."
      )
    }
    rates.keySet.retainAll(map.shards.asJava)
    val same = known.filter(_ == map)
    known = Some(same.getOrElse(map))
    same.getOrElse(map)
  }
}

object TargetStream {
  private val Retrying = Retry(attempts = 5, Backoff(base = 200.millis, cap = 2.seconds))
}
