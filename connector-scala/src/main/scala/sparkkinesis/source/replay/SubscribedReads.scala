package sparkkinesis.source.replay

import scala.annotation.tailrec
import scala.collection.mutable
import scala.concurrent.duration._

import sparkkinesis.client._
import sparkkinesis.model._
import sparkkinesis.source.StreamClient
import sparkkinesis.source.feed.{Feeds, PageFeed, PushedPages, SubscriptionCounts}

/**
 * A client of one stream whose `GetRecords` returns the next event of a subscription, so that a
 * batch read uses enhanced fan-out like polling. Used by one thread.
 *
 * @param isCancelled checked while it waits for an event
 */
final class SubscribedReads(
    stream: StreamClient,
    consumer: ConsumerArn,
    clock: Clock,
    chance: () => Double,
    isCancelled: () => Boolean
) extends KinesisClient {
  import SubscribedReads._

  private val counts = new SubscriptionCounts
  private val subscriptions = mutable.Map.empty[String, Subscription] // by shard

  override def isAws: Boolean = stream.client.isAws

  override def describeStream(ref: StreamRef): StreamSummary = stream.client.describeStream(ref)

  override def listShards(request: ListShardsRequest): ShardListing =
    stream.client.listShards(request)

  /** Begins another subscription of the shard with the next `getRecords`. */
  override def shardIterator(ref: StreamRef, shard: ShardId, position: Position): ShardIterator = {
    subscriptions.put(shard.name, new Subscription(shard, position)).foreach(_.feed.close())
    ShardIterator(shard.name)
  }

  /** Waits for an event, or for a failure of the subscription. */
  override def getRecords(ref: StreamRef, iterator: ShardIterator, limit: Int): Page =
    subscriptions(iterator.token).page()

  override def putRecords(ref: StreamRef, entries: Seq[PutEntry]): Seq[PutResult] =
    stream.client.putRecords(ref, entries)

  override def close(): Unit = subscriptions.values.foreach(_.feed.close())

  private final class Subscription(shard: ShardId, position: Position) {
    private var news = 0L

    val feed: PageFeed = Feeds.pushed(
      stream,
      consumer,
      shard,
      PushedPages.Renewal,
      counts,
      chance,
      () => wake()
    )

    private def wake(): Unit = synchronized {
      news += 1
      notifyAll()
    }

    @tailrec def page(): Page = {
      if (isCancelled()) throw new InterruptedException(s"Reading $shard was cancelled.")
      val (seen, at) = (synchronized(news), clock.moment)
      feed.next(position, at)(taken(_, _, at)) match {
        case Right(page) => page
        case Left(reason) =>
          await(seen, pauseOf(reason).min(CancelPeriod).toMillis)
          page()
      }
    }

    /** The service's time is that of the subscription's begin. */
    private def taken(page: Page, asked: Moment, at: Moment): Page = page.copy(
      next = page.next.map(_ => ShardIterator(shard.name)),
      serverTime = page.serverTime.filter(_ => asked == at)
    )

    private def pauseOf(reason: PageFeed.NoPage): FiniteDuration = reason match {
      case PageFeed.Asked(limit) => limit
      case PageFeed.Paced(pause) => pause
      case PageFeed.TooLarge(_) => CancelPeriod
    }

    private def await(seen: Long, millis: Long): Unit = synchronized {
      if (news == seen && millis > 0) clock.await(this, millis)
    }
  }
}

private object SubscribedReads {

  /** How long it takes at most to notice that the task was cancelled. */
  private val CancelPeriod = 200.millis
}
