package sparkkinesis.sink

import java.util.concurrent.atomic.AtomicLong

import scala.collection.mutable

import sparkkinesis.client._
import sparkkinesis.model._

/** A Kinesis that only accepts records, and answers each request with the given function. */
class FakeKinesis(answer: (FakeKinesis, Seq[PutEntry]) => Seq[PutResult]) extends KinesisClient {
  private val texts = mutable.Buffer.empty[String]
  private val sizes = mutable.Buffer.empty[Int]
  private val numbers = new AtomicLong

  /** The data of the written records, as text, in order of arrival. */
  def written: Seq[String] = synchronized(texts.toVector)

  /** The number of records in each request. */
  def requests: Seq[Int] = synchronized(sizes.toVector)

  def write(entry: PutEntry): PutResult = synchronized {
    texts += new String(entry.data)
    PutResult.Written(ShardId("s"), SequenceNumber(numbers.incrementAndGet().toString))
  }

  override def putRecords(stream: StreamRef, entries: Seq[PutEntry]): Seq[PutResult] = {
    synchronized(sizes += entries.size)
    answer(this, entries)
  }

  /** One shard, to which every hash key belongs. */
  override def listShards(request: ListShardsRequest): ShardListing = ShardListing(
    Seq(Shard(ShardId("s"), Nil, HashKeyRange.All, SequenceNumber("1"), None)),
    None,
    None
  )

  override def describeStream(stream: StreamRef): StreamSummary = unused
  override def shardIterator(s: StreamRef, shard: ShardId, p: Position): ShardIterator = unused
  override def getRecords(stream: StreamRef, iterator: ShardIterator, limit: Int): Page = unused
  override def close(): Unit = ()

  private def unused: Nothing = throw new UnsupportedOperationException
}

object FakeKinesis {
  val Throttle: PutResult.Failed =
    PutResult.Failed("ProvisionedThroughputExceededException", "Rate exceeded for shard s")

  def willing: FakeKinesis = new FakeKinesis((it, entries) => entries.map(it.write))
}
