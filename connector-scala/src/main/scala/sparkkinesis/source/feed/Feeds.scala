package sparkkinesis.source.feed

import sparkkinesis.model.ShardId
import sparkkinesis.source.StreamClient
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.store.FetchMemory

private[source] object Feeds {

  /**
   * The feed of a shard: pushed if the stream has a consumer, else polled.
   *
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
      new PushedPages(stream, consumer, shard, settings, counts, chance, wake)
  }
}
