package sparkkinesis.simulator.state

import java.time.Instant
import java.time.temporal.ChronoUnit

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client._
import sparkkinesis.model._
import sparkkinesis.simulator.fanout.{SubscribeToShard, Subscribed, SubscriptionStep}
import sparkkinesis.simulator.service.{SimulatedClock, SimulatedKinesis, Subscription}

/** What AWS does and the simulator does on request, as readers see it. */
final class BehaviourSuite extends AnyFunSuite {
  private val Start = Instant.parse("2026-01-01T00:00:00Z")
  private val Seeds = 1L to 20L

  private final class Fixture(behaviour: Behaviour) {
    val clock = new SimulatedClock(Start)
    val kinesis = new SimulatedKinesis(clock, Settings(behaviour = behaviour))
    val stream: StreamRef.ByName = StreamRef.ByName(StreamName("s"))
    val shard: ShardId = ShardState.id(0)
    kinesis.createStream(stream.name, 1)

    /** Puts one record every 7 ms. */
    def put(count: Int): Vector[SequenceNumber] = Vector.fill(count) {
      clock.advance(7.millis)
      kinesis.putRecord(stream.name, PutEntry("k", Array.emptyByteArray, None)).sequenceNumber
    }

    def iterator(position: Position): ShardIterator =
      kinesis.shardIterator(stream, shard, position)

    def page(from: ShardIterator): Page = kinesis.getRecords(stream, from, 10000)

    def page(position: Position = Position.TrimHorizon): Page = page(iterator(position))

    /** All pages from here to the tip or to the end of the shard. */
    def pages(from: ShardIterator): Vector[Page] = {
      val first = page(from)
      first.next.filterNot(_ => first.isAtTip).fold(Vector(first))(first +: pages(_))
    }

    def numbers(page: Page): Seq[SequenceNumber] = page.records.map(_.sequenceNumber)

    def split(): Unit = kinesis.splitShard(stream.name, shard, HashKey(BigInt(2).pow(127)))

    def subscribe(position: Position = Position.TrimHorizon): Subscription =
      kinesis.fanOut.subscribe(register(), shard, position)

    def subscribed(): Subscribed =
      kinesis.answer(SubscribeToShard(register(), shard, Position.TrimHorizon))

    private def register(): ConsumerArn = kinesis.fanOut.register(stream, "reader").arn
  }

  private def arrivals(page: Page): Seq[Long] = page.records.map(_.arrivalMillis)

  test("without a behaviour a record is visible at once, and pages are full") {
    val f = new Fixture(Behaviour())
    val written = f.put(30)
    assert(f.numbers(f.page()) == written)
    f.split()
    assert(f.page().children.size == 2)
  }

  test("readers see a record at most the delay after its acknowledgement, in sequence order") {
    var late = 0
    Seeds.foreach { seed =>
      val f = new Fixture(Behaviour(visibilityDelay = 50.millis, seed = seed))
      val written = f.put(30)
      val seen = (0 to 50).map { _ =>
        val page = f.page()
        f.clock.advance(1.milli)
        assert(page.isAtTip && page.next.nonEmpty)
        f.numbers(page)
      }
      // 23 records are older than 50 ms.
      assert(seen.head.size >= 23 && seen.last == written)
      assert(seen.forall(written.startsWith(_)) && seen.map(_.size) == seen.map(_.size).sorted)
      late += written.size - seen.head.size
    }
    assert(late > Seeds.size)
  }

  test("LATEST is after the last record that readers see, and nothing is lost behind it") {
    val f = new Fixture(Behaviour(visibilityDelay = 1.hour))
    val written = f.put(3)
    val tip = f.iterator(Position.Latest)
    val at = f.iterator(Position.AtSequenceNumber(written(1)))
    assert(f.page(tip).records.isEmpty && f.page(at).records.isEmpty && f.page(at).isAtTip)
    f.clock.advance(5.minutes)
    val later = Iterator
      .iterate(f.page(tip)) { page =>
        f.clock.advance(4.minutes)
        f.page(page.next.get)
      }
      .take(20)
    assert(later.flatMap(f.numbers).toVector == written)
  }

  test("no shard ends before its last record was visible") {
    Seeds.foreach { seed =>
      val f = new Fixture(Behaviour(visibilityDelay = 50.millis, seed = seed))
      val written = f.put(5)
      f.split()
      val pages = Iterator
        .continually {
          val page = f.page()
          f.clock.advance(1.milli)
          page
        }
        .take(52)
        .toVector
      pages.foreach(page => assert(page.next.isEmpty == (f.numbers(page) == written)))
      assert(pages.last.children.size == 2)
    }
  }

  test("a subscription sees what GetRecords sees, at the time when it becomes visible") {
    Seeds.foreach { seed =>
      val f = new Fixture(Behaviour(visibilityDelay = 50.millis, lateShardEnds = 0.5, seed = seed))
      val subscription = f.subscribe()
      val written = f.put(10)
      f.split()
      var seen = Vector.empty[SequenceNumber]
      while (!subscription.isComplete)
        subscription.next() match {
          case Some(event) =>
            assert(event.continuation.isEmpty == event.children.nonEmpty)
            seen ++= event.records.map(_.sequenceNumber)
          case None =>
            assert(seen == f.numbers(f.page()))
            f.clock.advance(1.milli)
        }
      assert(seen == written)
    }
  }

  test("a subscription to a closed shard may go on with empty events, and GetRecords ends") {
    val f = new Fixture(Behaviour(endlessSubscriptions = 1))
    val subscription = f.subscribe()
    val written = f.put(3)
    f.split()
    val events = (1 to 60).flatMap { _ =>
      f.clock.advance(1.second)
      subscription.next()
    }
    assert(events.flatMap(_.records.map(_.sequenceNumber)) == written && events.size > 10)
    assert(events.forall(it => it.continuation.nonEmpty && it.children.isEmpty))
    assert(events.forall(_.millisBehindLatest == 0) && !subscription.isComplete)
    assert(f.page().next.isEmpty && f.page().children.size == 2)
  }

  test("a subscription may begin at the oldest record, whatever position was asked for") {
    val replayed = Seeds.count { seed =>
      val f = new Fixture(Behaviour(replayedSubscriptions = 0.5, seed = seed))
      val written = f.put(3)
      val records = f
        .subscribe(Position.AfterSequenceNumber(written.last))
        .next()
        .toSeq
        .flatMap(_.records.map(_.sequenceNumber))
      assert(records.isEmpty || records == written)
      records.nonEmpty
    }
    assert(replayed > 0 && replayed < Seeds.size)
  }

  test("a subscription that waits looks again when a record becomes visible or a split is due") {
    def step(f: Fixture, it: Subscribed) = f.kinesis.nextEvent(it).toOption.get
    val late = new Fixture(Behaviour(visibilityDelay = 1.second))
    val waiting = late.subscribed()
    late.put(1)
    step(late, waiting) match {
      case SubscriptionStep.Wait(until) =>
        val left = late.clock.now.until(until, ChronoUnit.MILLIS)
        assert(left > 0 && left <= 1000)
        late.clock.advance((left - 1).millis)
        assert(step(late, waiting) == SubscriptionStep.Wait(until))
        late.clock.advance(1.milli)
        assert(step(late, waiting).isInstanceOf[SubscriptionStep.Send])
      case other => fail(s"It does not wait: $other")
    }
    val scaled = new Fixture(Behaviour(reshardInterval = 1.second))
    val quiet = scaled.subscribed()
    scaled.kinesis.beginScaling(scaled.stream.name, 2)
    assert(step(scaled, quiet) == SubscriptionStep.Wait(scaled.clock.now.plusSeconds(1)))
  }

  test("arrival times fall, by at most the bound, and are never after the acknowledgement") {
    val falls = Seeds.flatMap { seed =>
      val f = new Fixture(Behaviour(arrivalFall = 20.millis, seed = seed))
      f.put(50)
      val times = arrivals(f.page())
      times.zipWithIndex.foreach { case (time, i) =>
        val put = Start.plusMillis(7L * (i + 1)).toEpochMilli
        assert(time <= put && time >= put - 20)
      }
      times.zip(times.scanLeft(0L)(math.max)).map { case (time, latest) => latest - time }
    }
    assert(falls.max > 10 && falls.max <= 20)
  }

  test("AT_TIMESTAMP starts with the first record of that time or later, then follows the order") {
    Seeds.foreach { seed =>
      val f = new Fixture(Behaviour(arrivalFall = 20.millis, seed = seed))
      f.put(50)
      val all = arrivals(f.page())
      (all.min - 1 to all.max + 1).foreach { millis =>
        val from = Position.AtTimestamp(Instant.ofEpochMilli(millis))
        assert(arrivals(f.page(from)) == all.dropWhile(_ < millis))
        f.clock.advance(1.milli)
      }
    }
  }

  test("records expire up to the first one within the retention period") {
    Seeds.foreach { seed =>
      val f = new Fixture(Behaviour(arrivalFall = 20.millis, seed = seed))
      f.put(50)
      val all = arrivals(f.page())
      f.clock.advance(24.hours - 350.millis)
      (0 until 350).foreach { _ =>
        f.clock.advance(1.milli)
        val horizon = f.clock.now.minusSeconds(24 * 3600).toEpochMilli
        assert(arrivals(f.page()) == all.dropWhile(_ < horizon))
      }
    }
  }

  test("empty pages advance the iterator, and are closer and closer to the next record") {
    val counts = Seeds.map { seed =>
      val f = new Fixture(Behaviour(emptyPages = 0.5, seed = seed))
      val written = f.put(30)
      val start = f.iterator(Position.TrimHorizon)
      val pages = f.pages(start)
      val (empty, full) = pages.partition(_.records.isEmpty)
      assert(pages == f.pages(start) && pages.init == empty && f.numbers(full.head) == written)
      val behind = pages.map(_.millisBehindLatest.get)
      assert(behind == behind.sorted.reverse && behind.distinct == behind)
      assert(empty.flatMap(_.next).distinct.size == empty.size)
      empty.size
    }
    assert(counts.toSet == Set(0, 1, 2, 3))
  }

  test("a closed shard needs one more empty page before its end") {
    val late = Seeds.count { seed =>
      val f = new Fixture(Behaviour(lateShardEnds = 0.5, seed = seed))
      val written = f.put(3)
      f.split()
      val last = f.page()
      assert(f.numbers(last) == written && last.isAtTip)
      last.next.foreach { next =>
        assert(last.children.isEmpty)
        assert(f.page(next).records.isEmpty && f.page(next).next.isEmpty)
        assert(f.page(next).children.size == 2)
      }
      last.next.nonEmpty
    }
    assert(late > 0 && late < Seeds.size)
  }

  test("single entries fail with InternalFailure, and the others are written in another order") {
    Seeds.foreach { seed =>
      val f = new Fixture(Behaviour(failedEntries = 0.3, shuffledPuts = 1, seed = seed))
      val entries = (0 until 100).map(i => PutEntry("k", Array(i.toByte), None))
      val results = f.kinesis.putRecords(f.stream, entries)
      val failed = results.collect { case it: PutResult.Failed => it.errorCode }
      assert(failed.size > 5 && failed.size < 60 && failed.distinct == Seq("InternalFailure"))
      val written = results.zipWithIndex.collect { case (it: PutResult.Written, i) =>
        (it.sequenceNumber, i)
      }
      val read = f.page().records.map(record => (record.sequenceNumber, record.data.head.toInt))
      assert(read == written.sortBy(_._1) && read != written)
      assert(f.kinesis.statistics.snapshot.entriesFailed == failed.size)
    }
  }

  test("scaling is a sequence of splits and merges, and records may be put between them") {
    val f = new Fixture(Behaviour(reshardInterval = 1.second))
    f.kinesis.beginScaling(f.stream.name, 2)
    assert(open(f) == 1 && f.kinesis.describeStream(f.stream).status == StreamStatus.Updating)
    f.clock.advance(1.second)
    assert(open(f) == 2 && f.kinesis.describeStream(f.stream).status == StreamStatus.Active)
    f.kinesis.beginScaling(f.stream.name, 3)
    intercept[KinesisException.InUse](f.kinesis.beginScaling(f.stream.name, 2))
    val opened = Seq.fill(3) {
      f.clock.advance(993.millis)
      val before = open(f)
      f.put(1)
      (before, open(f))
    }
    assert(opened == Seq((2, 3), (3, 4), (4, 3)))
    val found = listed(f)
    assert(found.filter(_.isOpen).map(_.hashKeys).sortBy(_.first) == HashKeyRange.even(3))
    val read = found.map { shard =>
      f.page(f.kinesis.shardIterator(f.stream, shard.id, Position.TrimHorizon)).records.size
    }
    assert(read.sum == 3)
  }

  test("scaling step by step gives the same shards as scaling at once") {
    def ranges(interval: FiniteDuration, targets: Seq[Int]) = {
      val f = new Fixture(Behaviour(reshardInterval = interval))
      targets.foreach(f.kinesis.updateShardCount(f.stream.name, _))
      listed(f).map(shard => (shard.id, shard.parents, shard.hashKeys, shard.isOpen))
    }
    Seq(Seq(2, 3, 5), Seq(2, 4, 7, 4, 3, 2, 1), Seq(2, 2)).foreach { targets =>
      assert(ranges(1.second, targets) == ranges(Duration.Zero, targets))
    }
  }

  test("a subscription reaches the end of its shard when a planned split is due") {
    val f = new Fixture(Behaviour(reshardInterval = 1.second))
    val subscription = f.subscribe()
    f.kinesis.beginScaling(f.stream.name, 2)
    assert(subscription.next().isEmpty)
    f.clock.advance(1.second)
    assert(subscription.next().exists(_.children.size == 2) && subscription.isComplete)
  }

  test("an on-demand stream doubles its shards when it receives too much within a second") {
    val f = new Fixture(Behaviour(onDemandScaling = 10, reshardInterval = 1.second))
    val busy = StreamRef.ByName(StreamName("busy"))
    f.kinesis.createOnDemandStream(busy.name)
    def put(records: Int) = {
      val entries = (1 to records).map(i => PutEntry(s"$i", Array.emptyByteArray, None))
      f.kinesis.putRecords(busy, entries)
    }
    def shards = f.kinesis.listShards(ListShardsRequest.First(busy, ShardFilter.AtLatest)).shards
    put(40)
    f.clock.advance(1.second)
    put(20)
    f.clock.advance(5.seconds)
    assert(shards.size == 4)
    put(20)
    put(21)
    put(50) // while it scales
    val counts = (1 to 5).map { _ =>
      val count = shards.size
      f.clock.advance(1.second)
      count
    }
    assert(counts == (4 to 8) && shards.map(_.hashKeys).sortBy(_.first) == HashKeyRange.even(8))
  }

  private def listed(f: Fixture): Seq[Shard] =
    f.kinesis.listShards(ListShardsRequest.First(f.stream, ShardFilter.FromTrimHorizon)).shards

  private def open(f: Fixture): Int = listed(f).count(_.isOpen)

  test("each setting can be written and read again") {
    val all = Behaviour(
      visibilityDelay = 1.milli,
      arrivalFall = 2.seconds,
      emptyPages = 0.1,
      lateShardEnds = 0.2,
      endlessSubscriptions = 0.25,
      replayedSubscriptions = 0.75,
      failedEntries = 0.3,
      shuffledPuts = 1,
      reshardInterval = 3.minutes,
      onDemandScaling = 4,
      seed = -5
    )
    val texts = Behaviour.settings.map(it => it.name -> it.written(all))
    val read = texts.foldLeft(Option(Behaviour())) { case (sofar, (name, text)) =>
      sofar.flatMap(Behaviour.changed(_, name, text))
    }
    assert(read.contains(all) && texts.size == all.productArity)
    Behaviour.settings.foreach { it =>
      assert(Behaviour.changed(all, it.name, it.example).exists(_ != all))
      assert(Behaviour.changed(all, it.name, "x").isEmpty)
    }
  }

  test("an unfit value is refused") {
    Seq[() => Behaviour](
      () => Behaviour(visibilityDelay = -1.millis),
      () => Behaviour(arrivalFall = -1.millis),
      () => Behaviour(emptyPages = 1.5),
      () => Behaviour(lateShardEnds = -0.5),
      () => Behaviour(endlessSubscriptions = 2),
      () => Behaviour(replayedSubscriptions = -1),
      () => Behaviour(failedEntries = 2),
      () => Behaviour(shuffledPuts = -1),
      () => Behaviour(reshardInterval = -1.second),
      () => Behaviour(onDemandScaling = -1)
    ).foreach(unfit => intercept[IllegalArgumentException](unfit()))
  }
}
