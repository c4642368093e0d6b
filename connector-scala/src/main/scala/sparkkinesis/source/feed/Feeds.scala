package sparkkinesis.source.feed

import scala.concurrent.duration._

import sparkkinesis.client.{ConsumerRef, FanOutClient, KinesisException}
import sparkkinesis.model.{ConsumerArn, ShardId}
import sparkkinesis.source.StreamClient
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.store.FetchMemory

/** Creates the feed of a shard: pushed if the stream has a consumer, else polled. */
private[source] object Feeds {

  /**
   * @param arrival room for the responses of its calls
   * @param maxRecords limit of one `GetRecords` call
   * @param counts of all feeds of the executor
   * @param chance evenly distributed in `[0, 1)`, for jitter
   * @param wake called on any thread when a pushed feed has news
   */
  def of(
      stream: StreamClient,
      shard: ShardId,
      arrival: FetchMemory#Arrival,
      settings: FetchSettings,
      maxRecords: Int,
      counts: FeedCounts,
      chance: () => Double,
      wake: () => Unit
  ): PageFeed = stream.consumer match {
    case None => new PolledPages(stream, shard, arrival, settings, maxRecords, counts)
    case Some(consumer) =>
      val fanOut = stream.client.fanOut
      new PushedPages(
        s"shard $shard of stream ${stream.ref} with consumer $consumer",
        fanOut.subscribe(consumer, shard, _, _),
        () => check(fanOut, consumer),
        renewAfter(settings),
        counts,
        chance,
        wake
      )
  }

  /**
   * A quiet shard is complete up to the begin of its subscription. With `maxShardSkew`, other
   * shards wait for that time, and a run with a stop time waits until it has passed the stop time.
   */
  private def renewAfter(settings: FetchSettings): FiniteDuration =
    if (settings.stopAtMillis.nonEmpty) ShortestRenewal
    else
      settings.maxShardSkew.fold(PushedPages.Renewal) { skew =>
        (skew / 2).max(ShortestRenewal).min(PushedPages.Renewal)
      }

  /** Fails if the consumer is gone. Any other answer says nothing about the consumer. */
  private def check(fanOut: FanOutClient, consumer: ConsumerArn): Unit =
    try fanOut.describe(ConsumerRef.ByArn(consumer)): Unit
    catch {
      case gone: KinesisException.NotFound =>
        throw new KinesisException.ConsumerNotFound(
          s"Consumer $consumer does not exist any more: ${gone.getMessage}",
          gone
        )
      case _: KinesisException => ()
    }

  /**
   * The shortest time between two calls: more than the time for which the service refuses another
   * one.
   */
  private val ShortestRenewal = 8.seconds
}
