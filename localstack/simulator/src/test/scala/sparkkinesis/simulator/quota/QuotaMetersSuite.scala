package sparkkinesis.simulator.quota

import java.time.Instant

import scala.concurrent.duration._

import org.scalacheck.{Gen, Shrink}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.client.{ConsumerRef, Page, PutResult, ShardIterator}
import sparkkinesis.model._
import sparkkinesis.simulator.fanout.SubscribeToShard
import sparkkinesis.simulator.listing.{DescribeLimits, ListShards}
import sparkkinesis.simulator.operation._
import sparkkinesis.simulator.paging.{IteratorToken, ListFilter}
import sparkkinesis.simulator.service.{SimulatedClock, SimulatedKinesis}
import sparkkinesis.simulator.state._

/** Laws of the limits, over any schedule of calls to a service of two shards. */
final class QuotaMetersSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import QuotaMetersSuite._

  private implicit val noShrink: Shrink[List[Step]] = Shrink.shrinkAny

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 50)

  test("in any T seconds a shard takes at most T + 1 MiB and 1,000 (T + 1) records") {
    forAll(schedules) { steps =>
      val world = new World
      val written = world.run(steps).flatMap(put => put.written.map(put.now -> _))
      written.groupBy(_._2.shard).values.foreach { ofShard =>
        eachWindow(ofShard.map { case (now, w) => (now, w.bytes) }) { (bytes, count, nanos) =>
          assert(BigInt(bytes) * Second <= BigInt(Mebi) * (nanos + Second))
          assert(BigInt(count) * Second <= BigInt(1000) * (nanos + Second))
        }
      }
    }
  }

  test("each entry is either written or refused, and the stream has the written ones") {
    forAll(schedules) { steps =>
      val world = new World
      val puts = world.run(steps)
      assert(puts.zip(steps).forall { case (put, step) => put.results.size == step.entries.size })
      assert(world.held == puts.map(_.written.size).sum)
    }
  }

  test("a shard at its limit does not affect another shard") {
    forAll(schedules) { steps =>
      def onlyFirst(steps: List[Step]) =
        steps.map(s => s.copy(entries = s.entries.filter(_.key == HashKey.Min)))
      def ofFirst(puts: List[Put]) =
        puts.map(_.results.zipWithIndex.filter(_._1._1 == HashKey.Min).map(_._1._2))
      val together = ofFirst(new World().run(steps))
      assert(together == ofFirst(new World().run(onlyFirst(steps))))
    }
  }

  test("a producer that keeps to the rate is never refused") {
    forAll(Gen.nonEmptyListOf(Gen.choose(1, Mebi))) { sizes =>
      val world = new World
      sizes.foreach { size =>
        val put = world.put(Step(0, Vector(Entry(size, HashKey.Min))))
        assert(put.written.size == 1)
        val seconds = math.max(size.toDouble / Mebi, 0.001)
        world.clock.advance((seconds * Second).ceil.toLong.nanos)
      }
    }
  }

  test("the error of a refused record names shard, stream and account") {
    val world = new World
    val results = world.kinesis.putRecords(Ref, Vector.fill(2)(Entry(Mebi, HashKey.Min).asPut))
    val shard = "shardId-000000000000"
    val message = s"Rate exceeded for shard $shard in stream s under account 000000000000."
    assert(results(1) == PutResult.Failed("ProvisionedThroughputExceededException", message))
  }

  test("a record of more than one second's amount passes without debt, and is paid back") {
    val shard = QuotaSubject(Arn, Some(ShardId("shardId-000000000000")))
    val fresh = Quota.writes(WriteQuota.Bucket).fresh(Start)
    val after = fresh.used(10L * Mebi, Start).get
    assert(after.used(1, Start.plusSeconds(9)).isEmpty)
    assert(after.used(1, Start.plusSeconds(9).plusNanos(1000)).nonEmpty)
    assert(after.used(10L * Mebi, Start.plusSeconds(10).minusNanos(1)).isEmpty)
    assert(after.used(10L * Mebi, Start.plusSeconds(10)).nonEmpty)
    assert(shard.toString.startsWith("shard shardId-000000000000 in stream s"))
  }

  test("the meters of removed shards and streams are dropped") {
    val book = new QuotaMeters
    def listing(i: Int) = ListShards(arn(s"stream-$i"), ListFilter.AtLatest, None, 1)
    def at(i: Int) = Start.plusMillis(i.toLong)
    val created = (0 until 3000).foldLeft(State.empty(Settings())) { (state, i) =>
      CreateStream(arn(s"stream-$i"), 1).run(state, Start).state
    }
    (0 until 3000).foreach(i => book.run(listing(i), created, at(i)))
    assert(book.size <= 2 * 1024)
    val few = new QuotaMeters
    (0 until 10).foreach(i => few.run(listing(i), created, Start))
    assert(few.size == 10)
    val before = few.subjects
    assert(before == (0 until 10).map(i => QuotaSubject(arn(s"stream-$i"), None)).toSet)
    few.run(DeleteStream(arn("stream-3")), created, Start)
    val deleting = QuotaSubject(Arn.region, Arn.account)
    assert(few.subjects == before - QuotaSubject(arn("stream-3"), None) + deleting)
  }

  test("a failed control call counts, and a call that a limit refuses does not") {
    val missing = DescribeStreamSummary(arn("no-such-stream"))
    val book = new QuotaMeters
    def failure(at: Instant) = book.run(missing, State.empty(Settings()), at).answer.swap.toOption
    def codes(at: Instant, count: Int) =
      Seq.fill(count)(failure(at)).collect { case Some(Failure.Refused(code, _)) => code }
    val (found, limited) = (ErrorCode.ResourceNotFound, ErrorCode.LimitExceeded)
    assert(codes(Start, 25) == Seq.fill(20)(found) ++ Seq.fill(5)(limited))
    assert(codes(Start.plusMillis(50), 2) == Seq(found, limited))
  }

  test(
    "a consumer may call subscribe once per second, and succeeds again only after five seconds"
  ) {
    val setup = Seq(CreateStream(Arn, 1), RegisterStreamConsumer(Arn, "c"))
    val made = setup.foldLeft(State.empty(Settings()))((made, call) => call.run(made, Start).state)
    val described = DescribeStreamConsumer(ConsumerRef.ByName(Arn, "c")).answer(made, Start)
    val consumer = described.toOption.get.arn
    val call = SubscribeToShard(consumer, ShardState.id(0), Position.Latest)
    val book = new QuotaMeters
    val times = Seq(0, 500, 1000, 1500, 5000, 5500)
    val (_, answers) = times.foldLeft((made, Vector.empty[Option[ErrorCode]])) {
      case ((state, all), millis) =>
        val outcome = book.run(call, state, Start.plusMillis(millis.toLong))
        val code = outcome.answer.swap.toOption.collect { case Failure.Refused(code, _) => code }
        (outcome.state, all :+ code)
    }
    val (limited, early) = (Some(ErrorCode.LimitExceeded), Some(ErrorCode.ResourceInUse))
    assert(answers == Vector(None, limited, early, limited, None, limited))
  }

  test("failed reads and writes do not count") {
    val state = CreateStream(Arn, 1).run(State.empty(Settings()), Start).state
    val noShard = GetShardIterator(Arn, ShardState.id(7), Position.Latest)
    val book = new QuotaMeters
    val failures = Seq.fill(9)(book.run(noShard, state, Start).answer.swap.toOption.get)
    assert(failures.distinct.size == 1 && book.size == 0)
  }

  test("calls without a stream count for their account and region") {
    val calls = Seq("eu-west-1", "us-east-1").map(DescribeLimits(_, Arn.account))
    val book = new QuotaMeters
    def answers = calls.map(book.run(_, State.empty(Settings()), Start).answer.isRight)
    assert(answers == Seq(true, true) && answers == Seq(false, false))
  }

  test("calls about consumers count for their stream") {
    val setup = Seq(CreateStream(Arn, 1), RegisterStreamConsumer(Arn, "c"))
    val state = setup.foldLeft(State.empty(Settings()))((made, call) => call.run(made, Start).state)
    val describe = DescribeStreamConsumer(ConsumerRef.ByName(Arn, "c"))
    val book = new QuotaMeters
    def isAnswered = book.run(describe, state, Start).answer.isRight
    assert(Seq.fill(20)(isAnswered).forall(identity) && !isAnswered)
  }

  test("a read that a fault answers with an empty page counts") {
    val read = GetRecords(
      None,
      ShardIterator(IteratorToken(Arn, Start, ShardState.id(0), 0, Start).encoded),
      1
    )
    val state = CreateStream(Arn, 1).run(State.empty(Settings()), Start).state
    val book = new QuotaMeters
    def reads = book.run(EmptyGetRecords(read), state, Start).answer.isRight
    assert(Seq.fill(6)(reads) == Seq(true, true, true, true, true, false))
  }

  test("every limit belongs to an operation, and refuses calls after at most 1,000") {
    Quota.byOperation.values.foreach { quota =>
      val meter = quota.fresh(Start)
      assert(meter.isFresh(Start))
      val most = Iterator.iterate(Option(meter))(_.flatMap(_.used(1, Start))).takeWhile(_.nonEmpty)
      assert((2 to 1001).contains(most.take(2000).size), quota.name)
    }
  }

  private final class World {
    val clock = new SimulatedClock(Start)
    val kinesis = new SimulatedKinesis(clock, Settings(quotas = true))
    kinesis.createStream(Arn.name, 2)

    def run(steps: List[Step]): List[Put] = steps.map { step =>
      clock.advance(step.nanos.nanos)
      put(step)
    }

    def put(step: Step): Put = {
      val results =
        if (step.entries.isEmpty) Seq.empty else kinesis.putRecords(Ref, step.entries.map(_.asPut))
      Put(
        clock.now,
        step.entries,
        step.entries
          .map(_.key)
          .zip(results.map {
            case _: PutResult.Written => true
            case _: PutResult.Failed => false
          })
      )
    }

    def held: Int = {
      clock.advance(1.minute)
      Vector(0, 1).map { shard =>
        val id = ShardState.id(shard)
        Iterator
          .iterate(page(kinesis.shardIterator(Ref, id, Position.TrimHorizon)))(p =>
            page(p.next.get)
          )
          .takeWhile(_.records.nonEmpty)
          .map(_.records.size)
          .sum
      }.sum
    }

    private def page(from: ShardIterator): Page = {
      clock.advance(10.seconds)
      kinesis.getRecords(Ref, from, 10000)
    }
  }
}

private object QuotaMetersSuite {
  private val Start = Instant.parse("2026-01-01T00:00:00Z")
  private val Second = 1000000000L
  private val Mebi = 1024 * 1024
  private val Arn = arn("s")
  private val Ref = StreamRef.ByName(Arn.name)

  private def arn(name: String): StreamArn = SimulatedKinesis.arn(StreamName(name))

  /**
   * A record to put; without its bytes, since a failing property prints what it was given.
   *
   * @param size with its partition key
   */
  private final case class Entry(size: Int, key: HashKey) {
    def asPut: PutEntry = PutEntry("k", new Array[Byte](size - 1), Some(key))
  }

  /** @param nanos since the one before */
  private final case class Step(nanos: Long, entries: Vector[Entry])

  private final case class Written(shard: HashKey, bytes: Long)

  /** @param results whether it was taken, by the hash key of the entry */
  private final case class Put(
      now: Instant,
      entries: Vector[Entry],
      results: Seq[(HashKey, Boolean)]
  ) {
    def written: Seq[Written] = entries.zip(results).collect { case (entry, (key, true)) =>
      Written(key, entry.size.toLong)
    }
  }

  private val entries: Gen[Vector[Entry]] = for {
    count <- Gen.frequency(3 -> Gen.choose(1, 20), 1 -> Gen.const(500))
    most = if (count == 500) 2000 else Mebi / 2
    all <- Gen.containerOfN[Vector, Entry](
      count,
      Gen.zip(Gen.choose(1, most), Gen.oneOf(HashKey.Min, HashKey.Max)).map { case (size, key) =>
        Entry(size, key)
      }
    )
  } yield all

  private val schedules: Gen[List[Step]] = {
    val pauses = Gen.oneOf(Gen.const(0L), Gen.choose(0L, Second))
    Gen
      .choose(1, 8)
      .flatMap(Gen.listOfN(_, Gen.zip(pauses, entries).map { case (p, e) => Step(p, e) }))
  }

  /** Bytes, records and length of every stretch of time that begins and ends with a put. */
  private def eachWindow(
      written: List[(Instant, Long)]
  )(check: (Long, Long, Long) => Unit): Unit = {
    val byTime = written.groupMap(_._1)(_._2).view.mapValues(w => (w.sum, w.size.toLong)).toVector
    val sorted = byTime.sortBy(_._1)
    for {
      first <- sorted.indices
      last <- first until sorted.size
    } {
      val within = sorted.slice(first, last + 1).map(_._2)
      val nanos = java.time.Duration.between(sorted(first)._1, sorted(last)._1).toNanos
      check(within.map(_._1).sum, within.map(_._2).sum, nanos)
    }
  }
}
