package sparkkinesis.source.replay

import scala.annotation.tailrec
import scala.concurrent.duration._

import sparkkinesis.client.{Clock, Page, ShardIterator}
import sparkkinesis.model.{Shard, ShardId}
import sparkkinesis.source.StreamClient

/**
 * Reads pages of a stream's shards, as fast as the quotas allow.
 *
 * @param isCancelled checked before each call, and while it waits
 */
private[replay] final class PacedReader(
    stream: StreamClient,
    maxRecords: Int,
    clock: Clock,
    isCancelled: () => Boolean
) {
  import stream.{client, ref, shared}

  private val begin = clock.elapsedMillis
  private var dueAt = begin // in milliseconds of the clock

  /** The next call begins after this time at the earliest. */
  def delay(time: FiniteDuration): Unit = dueAt = clock.elapsedMillis + time.toMillis

  /** The time until the next call may begin; zero if it may begin now. */
  def pause(shard: ShardId): FiniteDuration = {
    val now = clock.elapsedMillis
    val due = math.max(0L, dueAt - now).millis
    shared.paces.of(shard, now).pause(now).fold(due)(due.max)
  }

  /** Waits until a call may begin. */
  @tailrec
  def await(shard: ShardId): Unit = {
    if (isCancelled())
      throw new InterruptedException(s"Reading $shard of stream $ref was cancelled.")
    val wait = pause(shard)
    if (wait > Duration.Zero) {
      clock.sleep(wait.min(PacedReader.LongestSleep))
      await(shard)
    }
  }

  /** Makes one call, after a wait if another reader of the shard was faster. Does not repeat it. */
  @tailrec
  def page(shard: ShardId, iterator: ShardIterator): Page = {
    val pace = shared.paces.of(shard, clock.elapsedMillis)
    pace.next(clock.elapsedMillis) match {
      case Right(call) =>
        pace.read(call, maxRecords, () => clock.elapsedMillis)(client.getRecords(ref, iterator, _))
      case Left(_) =>
        await(shard)
        page(shard, iterator)
    }
  }

  /** Lists all shards, open and closed. The reader's range was planned before it began. */
  def shards: Seq[Shard] = shared.listing.shards(client, ref, begin, clock.elapsedMillis)
}

private object PacedReader {
  private val LongestSleep = 500.millis
}
