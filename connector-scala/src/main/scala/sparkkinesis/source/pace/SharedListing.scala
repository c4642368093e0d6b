package sparkkinesis.source.pace

import scala.concurrent.duration._

import sparkkinesis.client._
import sparkkinesis.model.{Shard, StreamRef}

/**
 * The shards of one stream, listed once for all readers of an executor that need them at about the
 * same time. After a failure it makes no call for a while. Thread-safe.
 */
final class SharedListing {
  import SharedListing._

  private var lister = Option.empty[ShardLister]
  private var begunAt = 0L
  private var latest = Option.empty[Listed]
  private var failed = Option.empty[Failed]

  /**
   * Lists all shards, open and closed. The listing is at most ten seconds old.
   *
   * @param notBefore the listing must not be older than this time
   * @param now in milliseconds since any instant
   * @throws KinesisException if the call fails, or failed a moment ago
   */
  def shards(client: KinesisClient, stream: StreamRef, notBefore: Long, now: Long): Seq[Shard] =
    synchronized {
      latest.filter(_.begunAt >= math.max(notBefore, now - MaxAge.toMillis)) match {
        case Some(listed) => listed.shards
        case None =>
          failed.filter(now < _.until).foreach(failure => throw failure.cause)
          list(client, stream, math.max(notBefore, now - MaxPartialAge.toMillis), now)
      }
    }

  /** Continues an earlier attempt, unless it began before `oldest`. */
  private def list(
      client: KinesisClient,
      stream: StreamRef,
      oldest: Long,
      now: Long
  ): Seq[Shard] = {
    val current = lister.filter(_ => begunAt >= oldest).getOrElse {
      begunAt = now
      new ShardLister(client, stream, ShardFilter.FromTrimHorizon)
    }
    lister = Some(current)
    try {
      latest = Some(Listed(begunAt, current.list().shards))
      failed = None
      lister = None
      latest.fold(Seq.empty[Shard])(_.shards)
    } catch {
      case cause: KinesisException =>
        val count = failed.fold(0)(_.count) + 1
        failed = Some(Failed(cause, count, now + Pauses.bound(count).toMillis))
        throw cause
    }
  }
}

private object SharedListing {
  private val MaxAge = 10.seconds
  private val MaxPartialAge = 2.minutes
  private val Pauses = Backoff(500.millis, 30.seconds)

  private final case class Listed(begunAt: Long, shards: Seq[Shard])
  private final case class Failed(cause: KinesisException, count: Int, until: Long)
}
