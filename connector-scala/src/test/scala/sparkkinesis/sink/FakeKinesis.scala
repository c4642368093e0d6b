package sparkkinesis.sink

import java.time.Instant
import java.util.concurrent.atomic.AtomicLong

import scala.collection.mutable
import scala.concurrent.duration._

import sparkkinesis.client._
import sparkkinesis.model._

/** A Kinesis that only takes records, and answers each request as it is told. */
class FakeKinesis(answer: (FakeKinesis, Seq[PutEntry]) => Seq[PutResult]) extends KinesisClient {
  private val taken = mutable.Buffer.empty[String]
  private val sizes = mutable.Buffer.empty[Int]
  private val numbers = new AtomicLong

  /** The data of what was written, as text, in order of arrival. */
  def written: Seq[String] = synchronized(taken.toVector)

  /** Records of each request. */
  def requests: Seq[Int] = synchronized(sizes.toVector)

  def write(entry: PutEntry): PutResult = synchronized {
    taken += new String(entry.data)
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

/** Waiting takes hardly any time but moves the hands; and they can be moved by hand. */
final class FastClock extends Clock {
  private val millis = new AtomicLong
  override def now: Instant = Instant.ofEpochMilli(millis.get)

  override def sleep(duration: FiniteDuration): Unit = {
    if (Thread.interrupted()) throw new InterruptedException
    pass(duration)
  }

  override def await(monitor: AnyRef, duration: Long): Unit = {
    monitor.wait(1)
    pass(math.max(1L, duration).millis)
  }

  def pass(duration: FiniteDuration): Unit = { millis.addAndGet(duration.toMillis); () }
}
