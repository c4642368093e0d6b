package sparkkinesis.source.fetch

import java.time.Instant

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.client._
import sparkkinesis.model._
import sparkkinesis.model.offset.Progress
import sparkkinesis.shard.feed.ReadStep
import sparkkinesis.shard.feed.ReadStep._
import sparkkinesis.shard.{ReadSettings, StreamClient}
import sparkkinesis.source.ReadOnlyKinesis
import sparkkinesis.source.ScriptedKinesis.recordsOf
import sparkkinesis.source.fetch.Steps._
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.protocol.{Assignment, ReadLimits}
import sparkkinesis.source.store.Stores

/** A fetcher with enhanced fan-out asks for events only if the store has room for them. */
class PushedFetcherSuite extends AnyFunSuite {
  private val id = StreamShard(arn, shardId(0))

  /** @param bytes room of the store */
  private final class Fetching(bytes: Long, limits: ReadLimits = ReadLimits.None) {
    var requests = 0
    private var subscriber: EventSubscriber = _
    private val settings =
      FetchSettings(
        ReadSettings(100, 200.millis, 1.second),
        bufferBytes = Some(bytes),
        spillBytes = 0,
        limits = limits
      )

    private object fanOut extends FanOutClient {
      override def describe(consumer: ConsumerRef): ConsumerSummary =
        throw new UnsupportedOperationException
      override def register(s: StreamArn, name: String): ConsumerSummary =
        throw new UnsupportedOperationException
      override def subscribe(
          consumer: ConsumerArn,
          shard: ShardId,
          position: Position,
          to: EventSubscriber
      ): EventSubscription = {
        subscriber = to
        new EventSubscription {
          override def request(): Unit = requests += 1
          override def close(): Unit = ()
        }
      }
    }
    private val client: KinesisClient = new ReadOnlyKinesis {
      override def fanOut: FanOutClient = Fetching.this.fanOut
    }
    private val fetcher = new ShardFetcher(
      StreamClient(stream, client, consumer = Some(ConsumerArn(arn, "app", 1))),
      Assignment(id, 1, Progress.TrimHorizon),
      Stores.of(settings),
      settings,
      () => 0.5
    )

    def step(): ReadStep[FetchedPage] = {
      val now = Instant.ofEpochMilli(5000000)
      fetcher.step(Moment(now, now))
    }

    /** Steps until it waits for an event. */
    def asked(): this.type = {
      while (!step().isInstanceOf[Awaits]) ()
      this
    }

    def push(number: Int, millisBehind: Long, size: Int): Unit = {
      val record = recordsOf(number to number).head.copy(data = new Array[Byte](size))
      val after = Some(record.sequenceNumber)
      subscriber.event(ShardEvent(Vector(record), after, Some(millisBehind), Nil))
    }
  }

  test("in a backlog it asks for an event while it stores the one before") {
    val it = new Fetching(bytes = 100 << 20).asked()
    it.push(1, millisBehind = 1000, size = 1 << 20)
    assert(it.requests === 1)
    assert(it.step().isInstanceOf[Read[_]] && it.requests === 2)
    assert(it.step().isInstanceOf[Awaits] && it.requests === 2)
    it.push(2, millisBehind = 0, size = 1 << 20)
    assert(it.step().isInstanceOf[Read[_]] && it.requests === 2)
    assert(it.step().isInstanceOf[Awaits] && it.requests === 3)
  }

  test("without room for two it asks for an event after it has stored the one before") {
    val it = new Fetching(bytes = 3 << 20).asked()
    it.push(1, millisBehind = 1000, size = 1 << 20)
    assert(it.step().isInstanceOf[Read[_]] && it.requests === 1)
    it.step()
    assert(it.requests === 2)
  }

  test("with small batches it asks for one event at a time") {
    val limits = ReadLimits(Some(10), None)
    val it = new Fetching(bytes = 100 << 20, limits).asked()
    it.push(1, millisBehind = 1000, size = 1000)
    assert(it.step().isInstanceOf[Read[_]] && it.requests === 1)
  }
}
