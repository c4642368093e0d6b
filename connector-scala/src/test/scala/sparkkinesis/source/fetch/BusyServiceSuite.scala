package sparkkinesis.source.fetch

import java.time.Instant

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.client.{ErrorCondition, KinesisClient, KinesisException, Moment, ShardListing}
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{Position, SequenceNumber, Shard, StreamShard}
import sparkkinesis.shard.feed.ReadStep
import sparkkinesis.shard.{ReadSettings, ShardRange, StreamClient}
import sparkkinesis.sink.FastClock
import sparkkinesis.source.ScriptedKinesis
import sparkkinesis.source.ScriptedKinesis._
import sparkkinesis.source.checkpoint.{QueryStream, QueryStreamSuite}
import sparkkinesis.source.fetch.Steps._
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.protocol.{Assignment, ReadLimits}
import sparkkinesis.source.store.{PageStore, Stores}

/** Kinesis throttles calls about shards: the query continues with what it knows. */
class BusyServiceSuite extends AnyFunSuite {
  private def at(time: Instant) = Moment(time, time)

  private val busy = new KinesisException.LimitExceeded("Rate exceeded for ListShards")
  private val shards = newStream(2)
  private val shard = shards.head
  private val id = StreamShard(arn, shard.id)
  private val settings = FetchSettings(
    ReadSettings(100, 200.millis, 1.second),
    bufferBytes = Some(1L << 30),
    spillBytes = 0,
    limits = ReadLimits.None
  )

  private def upTo(number: Int) = Progress.After(SequenceNumber(number.toString))

  private class Reading(val kinesis: ScriptedKinesis) {
    val store: PageStore = Stores.of(settings)
    private val fetcher = new ShardFetcher(
      StreamClient(stream, kinesis),
      Assignment(id, 1, Progress.TrimHorizon),
      store,
      settings,
      () => 0.5
    )

    /** Far enough apart for a listing each. */
    def step(number: Int): ReadStep[FetchedPage] =
      fetcher.step(at(Instant.ofEpochMilli(1000000).plusSeconds(number * 100L)))
  }

  test(
    "while an end cannot be confirmed, only the listing is tried again, and its records are " +
      "reported"
  ) {
    val closed = shard.copy(last = Some(SequenceNumber("999")))
    val kinesis = new ScriptedKinesis().page(page(1 to 3)).page(end(4 to 4)).page(end(5 to 4))
    (1 to 29).foreach(_ => kinesis.listing(throw busy))
    val child = Shard(shardId(9), Seq(shard.id), shard.hashKeys, shard.first, None)
    val reading = new Reading(kinesis.listing(listing(closed, child)))
    assert(reading.step(0).isInstanceOf[ReadStep.Read[_]])
    reading.step(1) match {
      case ReadStep.Read(FetchedPage(report, 1, true), _) =>
        assert(report.marks.map(_.upTo) === Seq(upTo(4)) && report.millisBehindLatest > 0)
      case other => fail(s"not read: $other")
    }
    (2 to 30).foreach(number => assert(reading.step(number).isInstanceOf[ReadStep.Retries]))
    assert(kinesis.asked.size === 3 && kinesis.listed.size === 29)
    assert(reading.store.parts(ShardRange(id, Progress.TrimHorizon, upTo(4))).nonEmpty)
    reading.step(31) match {
      case ReadStep.Read(FetchedPage(report, 0, true), _) =>
        assert(report.from === upTo(4) && report.marks.map(_.upTo) === Seq(Progress.Finished))
      case other => fail(s"not read: $other")
    }
    assert(reading.step(32) === ReadStep.Ended)
  }

  test("an end without records that cannot be confirmed for long ends the query") {
    val broken = new KinesisException.ServiceFailure("broken")
    val kinesis = new ScriptedKinesis().page(end(1 to 0)).page(end(1 to 0))
    (1 to 21).foreach(_ => kinesis.listing(throw broken))
    val reading = new Reading(kinesis)
    reading.step(0)
    (1 to 20).foreach(number => assert(reading.step(number).isInstanceOf[ReadStep.Retries]))
    assert(reading.step(21) === ReadStep.Fails(broken))
    assert(kinesis.asked.size === 2)
  }

  test("an open shard that ends again and again at the same place ends the query") {
    val kinesis = new ScriptedKinesis().page(end(1 to 0))
    (1 to 21).foreach(_ => kinesis.page(page(1 to 0)).page(end(1 to 0)).listing(listing(shard)))
    val reading = new Reading(kinesis)
    val ends = (0 to 42).map(reading.step).filterNot(_.isInstanceOf[ReadStep.Read[_]])
    assert(ends.size === 21 && ends.init.forall(_.isInstanceOf[ReadStep.Retries]))
    assert(ends.last.isInstanceOf[ReadStep.Fails])
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

  test("a later listing that is throttled on its second page continues there the next time") {
    val kinesis = new ScriptedKinesis()
      .listing(ShardListing(shards.take(1), Some("more"), None))
      .listing(throw busy)
      .listing(listing(shards(1)))
    val stream = checked(kinesis)
    assertThrows[KinesisException.LimitExceeded](stream.list())
    assert(stream.list() === shards)
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
    assert(QueryStream.stopTime(Seq(checked(kinesis, clock))).toEpochMilli === 300)
  }
}
