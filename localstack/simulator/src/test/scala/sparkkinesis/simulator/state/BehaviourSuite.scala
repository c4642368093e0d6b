package sparkkinesis.simulator.state

import java.time.Instant

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client.{Page, ShardIterator}
import sparkkinesis.model._
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

    def subscribe(position: Position = Position.TrimHorizon): Subscription = {
      val consumer = kinesis.fanOut.register(stream, "reader")
      kinesis.fanOut.subscribe(consumer.arn, shard, position)
    }
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

  test("an unfit value is refused") {
    Seq[() => Behaviour](
      () => Behaviour(visibilityDelay = -1.millis),
      () => Behaviour(arrivalFall = -1.millis),
      () => Behaviour(emptyPages = 1.5),
      () => Behaviour(lateShardEnds = -0.5)
    ).foreach(unfit => intercept[IllegalArgumentException](unfit()))
  }
}
