package sparkkinesis.source.fetch

import java.time.Instant

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.client.{ErrorCondition, KinesisClient, KinesisException, Moment, ShardListing}
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{Position, SequenceNumber, StreamShard}
import sparkkinesis.sink.FastClock
import sparkkinesis.source.ScriptedKinesis._
import sparkkinesis.source.checkpoint.QueryStreamSuite
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.protocol.{Assignment, ReadLimits, ShardRange}
import sparkkinesis.source.store.Stores
import sparkkinesis.source.{ScriptedKinesis, StreamClient}

/** Kinesis throttles calls about shards: the query continues with what it knows. */
class BusyServiceSuite extends AnyFunSuite {
  private def at(time: Instant) = Moment(time, time)

  private val busy = new KinesisException.LimitExceeded("Rate exceeded for ListShards")
  private val shards = newStream(2)
  private val shard = shards.head
  private val id = StreamShard(arn, shard.id)
  private val settings = FetchSettings(
    100,
    200.millis,
    1.second,
    Some(1L << 30),
    0,
    ReadLimits.None,
    failOnDataLoss = true,
    stopAtMillis = None
  )

  private def upTo(number: Int) = Progress.After(SequenceNumber(number.toString))

  test(
    "an end that cannot be confirmed yet is retried, and earlier pages are reported"
  ) {
    val closed = shard.copy(last = Some(SequenceNumber("999")))
    val kinesis = new ScriptedKinesis().page(page(1 to 3))
    (1 to 30).foreach(_ => kinesis.page(end(4 to 4)).listing(throw busy))
    kinesis.page(end(4 to 4)).listing(listing(closed))
    val store = Stores.of(settings)
    val fetcher = new ShardFetcher(
      StreamClient(stream, kinesis),
      Assignment(id, 1, Progress.TrimHorizon),
      store,
      settings,
      () => 1,
      () => 0.5
    )
    val now = Instant.ofEpochMilli(1000000)
    assert(fetcher.step(at(now)).isInstanceOf[FetchStep.Fetched])
    (1 to 30).foreach { second =>
      assert(fetcher.step(at(now.plusSeconds(second * 100L))).isInstanceOf[FetchStep.Retries])
      assert(store.parts(ShardRange(id, Progress.TrimHorizon, upTo(3))).nonEmpty)
    }
    fetcher.step(at(now.plusSeconds(6000))) match {
      case FetchStep.Fetched(report, 1, _, _) =>
        assert(report.from === upTo(3) && report.marks.map(_.upTo) === Seq(Progress.Finished))
      case other => fail(s"not read: $other")
    }
  }

  private def checked(kinesis: KinesisClient, clock: FastClock = new FastClock) =
    QueryStreamSuite.queryStream(kinesis, clock, Position.TrimHorizon)

  test("a first listing that is throttled on its second page continues there") {
    val kinesis = new ScriptedKinesis()
      .summary(summary())
      .listing(ShardListing(shards.take(1), Some("more"), None))
      .listing(throw busy)
      .listing(listing(shards(1)))
    assert(checked(kinesis).firstOffset().shards.keySet === shards.map(_.id).toSet)
  }

  test("if throttling lasts, the query does not start, and the error gives the reason") {
    val kinesis = new ScriptedKinesis()
    kinesis.summary(summary())
    (1 to 28).foreach(_ => kinesis.listing(throw busy))
    val e = intercept[KinesisException.LimitExceeded](checked(kinesis).firstOffset())
    assert(ErrorCondition.of(e).condition.startsWith("KINESIS_"))
  }

  test("the call for the stop time is retried") {
    val clock = new FastClock
    val kinesis = new ScriptedKinesis().listing(throw busy).listing(throw busy).listing(listing())
    assert(checked(kinesis, clock).serviceTime() === clock.now && clock.now.toEpochMilli === 300)
  }
}
