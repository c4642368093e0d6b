package sparkkinesis.source.replay

import scala.annotation.tailrec
import scala.concurrent.duration._

import sparkkinesis.client.{Clock, Page, ShardIterator}
import sparkkinesis.model.{Shard, ShardId}
import sparkkinesis.source.StreamClient
import sparkkinesis.source.pace.{ReadCall, ReadPace}

/**
 * Reads pages of a stream's shards, as fast as the quotas allow.
 *
 * @param isCancelled checked while it waits
 */
private[replay] final class PacedReader(
    stream: StreamClient,
    maxRecords: Int,
    clock: Clock,
    isCancelled: () => Boolean
) {
  import stream.{client, ref, shared}

  private val begin = clock.elapsedMillis

  /** Waits until the shard's quota allows a call. Makes one call, and does not repeat it. */
  def page(shard: ShardId, iterator: ShardIterator): Page = {
    val pace = shared.paces.of(shard, clock.elapsedMillis)
    pace.read(awaitCall(shard, pace), maxRecords, () => clock.elapsedMillis) {
      client.getRecords(ref, iterator, _)
    }
  }

  /** All shards, open and closed. The reader's range was planned before it began. */
  def shards: Seq[Shard] = shared.listing.shards(client, ref, begin, clock.elapsedMillis)

  @tailrec
  private def awaitCall(shard: ShardId, pace: ReadPace): ReadCall =
    pace.next(clock.elapsedMillis) match {
      case Right(call) => call
      case Left(wait) =>
        clock.sleep(wait.min(PacedReader.LongestSleep))
        if (isCancelled())
          throw new InterruptedException(s"Reading $shard of stream $ref was cancelled.")
        awaitCall(shard, pace)
    }
}

private object PacedReader {
  private val LongestSleep = 500.millis
}
