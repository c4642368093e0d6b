package sparkkinesis.sink.rate

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client.{KinesisException, ListShardsRequest, ShardListing}
import sparkkinesis.model._
import sparkkinesis.sink.{FakeKinesis, FastClock, WaitingTasks}

/** What the tasks of an executor share about a stream. */
class TargetStreamSuite extends AnyFunSuite {
  private val ref = StreamRef.ByName(StreamName("orders"))

  private val patience = 5.minutes

  private def shard(number: Int, range: HashKeyRange) =
    Shard(ShardId(f"shardId-$number%012d"), Nil, range, SequenceNumber("1"), None)

  private def even(count: Int): Seq[Shard] =
    HashKeyRange.even(count).zipWithIndex.map { case (range, i) => shard(i, range) }

  private final class Listing(answer: Int => Seq[Shard]) {
    val asked = new AtomicInteger
    val clock = new FastClock
    private val client = new FakeKinesis((_, _) => Nil) {
      override def listShards(request: ListShardsRequest): ShardListing =
        ShardListing(answer(asked.incrementAndGet()), None, None)
    }

    def stream(spreads: Option[Int] = None, writers: Int = 1) =
      new TargetStream(
        ref,
        client,
        ServiceLimits.RecordBytes,
        spreads,
        writers,
        clock
      )
  }

  test("the shards are listed once for all tasks") {
    val listing = new Listing(_ => even(3))
    val stream = listing.stream()
    val shards = stream.shards()
    assert(shards.shards.size === 3 && (stream.shards() eq shards) && listing.asked.get === 1)
  }

  test("the shards are listed again only for a task that has used the latest listing") {
    val listing = new Listing(n => even(math.min(n, 2)))
    val stream = listing.stream()
    val old = stream.shards()
    val news = stream.shardsAfter(old)
    assert(news.shards.size === 2 && listing.asked.get === 2)
    assert((stream.shardsAfter(old) eq news) && listing.asked.get === 2)
    assert((stream.shardsAfter(news) eq news) && listing.asked.get === 3, "nothing changed")
  }

  test("the first listing is retried as long as a write may take") {
    Seq(new KinesisException.LimitExceeded("busy"), new KinesisException.Unreachable("reset"))
      .foreach { e =>
        val listing = new Listing(n => if (n < 30) throw e else even(1))
        assert(listing.stream().shards(patience).shards.size === 1)
      }
    val never = new Listing(_ => throw new KinesisException.Unreachable("reset"))
    intercept[KinesisException.Unreachable](never.stream().shards(patience))
    assert(never.clock.elapsedMillis >= 300000 && never.clock.elapsedMillis < 310000)
  }

  test("while the service does not answer, all tasks wait for one listing, and share its failure") {
    val (asked, end) = (new AtomicInteger, new CountDownLatch(1))
    val listing = new Listing({ _ =>
      asked.incrementAndGet()
      end.await()
      throw new KinesisException.Unreachable("reset")
    })
    val stream = listing.stream()
    val outcomes = WaitingTasks.failures(stream.shards())(end.countDown())
    assert(outcomes.forall(_.isInstanceOf[KinesisException.Unreachable]) && asked.get === 1)
  }

  test("the first listing waits for the end of a reshard") {
    val listing = new Listing(n => if (n < 30) even(2).tail else even(2))
    assert(listing.stream().shards(patience).shards.size === 2)
  }

  test("a listing without an open shard is an error") {
    val e =
      intercept[KinesisException.InUse](new Listing(_ => Nil).stream().shardsAfter(ShardMap.Whole))
    assert(e.getMessage.contains("stream orders"))
  }

  test(
    "a stream that distributes records itself is never listed, and has the quota of all its shards"
  ) {
    val listing = new Listing(_ => fail())
    val stream = listing.stream(spreads = Some(4))
    assert(stream.shards() eq ShardMap.Whole)
    val rate = stream.rate(stream.shards().shards.head, 0)
    (1 to 4000).foreach(_ => assert(rate.take(1000, 0)))
  }

  test("tasks share the rate limiter of a shard, which starts at the executor's part") {
    val stream = new Listing(_ => even(2)).stream(writers = 4)
    val first = stream.rate(ShardId("a"), 0)
    assert((stream.rate(ShardId("a"), 10) eq first) && (stream.rate(ShardId("b"), 0) ne first))
    assert(first.share === 0.25)
  }
}
