package sparkkinesis.source.fetch

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.client._
import sparkkinesis.model._
import sparkkinesis.source.protocol.FetchTimes

/** How many `GetRecords` requests a fetch service has sent, and how long they took. Thread-safe. */
private[fetch] final class RequestTimes {
  private val buckets = new Array[Long](FetchTimes.Buckets)

  def add(millis: Long): Unit = synchronized {
    buckets(FetchTimes.bucketOf(math.max(0L, millis))) += 1
  }

  def times: FetchTimes = synchronized {
    FetchTimes(buckets.indices.iterator.map(it => it -> buckets(it)).filter(_._2 > 0).toMap)
  }
}

/** A client whose `GetRecords` requests are counted, also those that fail. */
private[fetch] final class TimedReads(client: KinesisClient, requests: RequestTimes, clock: Clock)
    extends KinesisClient {
  override def isAws: Boolean = client.isAws

  override def describeStream(stream: StreamRef): StreamSummary = client.describeStream(stream)

  override def listShards(request: ListShardsRequest): ShardListing = client.listShards(request)

  override def shardIterator(
      stream: StreamRef,
      shard: ShardId,
      position: Position
  ): ShardIterator = client.shardIterator(stream, shard, position)

  override def getRecords(stream: StreamRef, iterator: ShardIterator, limit: Int): Page = {
    val begin = clock.elapsedMillis
    try client.getRecords(stream, iterator, limit)
    finally requests.add(clock.elapsedMillis - begin)
  }

  override def putRecords(stream: StreamRef, entries: Seq[PutEntry]): Seq[PutResult] =
    client.putRecords(stream, entries)

  override def putRecords(
      stream: StreamRef,
      entries: Seq[PutEntry],
      timeout: FiniteDuration
  ): Seq[PutResult] = client.putRecords(stream, entries, timeout)

  override def fanOut: FanOutClient = client.fanOut

  override def close(): Unit = client.close()
}
