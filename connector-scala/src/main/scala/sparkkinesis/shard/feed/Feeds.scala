package sparkkinesis.shard.feed

import sparkkinesis.model.ShardId
import sparkkinesis.shard.{FetchMemory, ReadSettings, StreamClient}

private[sparkkinesis] object Feeds {

  /**
   * The feed of a shard: pushed if the stream has a consumer, else polled.
   *
   * @param arrival room for the responses of its calls
   * @param counts of all feeds of the executor
   * @param chance evenly distributed in `[0, 1)`, for jitter
   * @param wake called on any thread when a pushed feed has news
   */
  def of(
      stream: StreamClient,
      shard: ShardId,
      arrival: FetchMemory#Arrival,
      settings: ReadSettings,
      counts: FeedCounts,
      chance: () => Double,
      wake: () => Unit
  ): PageFeed = stream.consumer match {
    case None => new PolledPages(stream, shard, arrival, settings, counts)
    case Some(consumer) =>
      new PushedPages(stream, consumer, shard, settings, counts, chance, wake)
  }
}
