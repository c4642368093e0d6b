package sparkkinesis.sink.write

import scala.concurrent.duration._

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.client.{KinesisException, PutResult}
import sparkkinesis.model.{HashKeyRange, PutEntry, SequenceNumber, ShardId}
import sparkkinesis.sink.lane.{Lane, Request, RequestLimits}
import sparkkinesis.sink.metrics.SinkCounter._
import sparkkinesis.sink.rate.RequestLimit
import sparkkinesis.sink.write.StreamWriter.Next
import sparkkinesis.sink.{AggregateLimits, SinkOptions}

/** Which records form a request, when it is sent, and what its answer changes. */
class StreamWriterSuite extends AnyFunSuite with ScalaCheckPropertyChecks with StreamWriterFixture {
  private val number = SequenceNumber("7")

  test("every request keeps its limits, and every record is sent once") {
    val records = Gen.listOf(Gen.zip(Gen.choose(0, 60), Gen.oneOf("k", "ключ", "🔑", "z")))
    forAll(records, Gen.choose(1, 9), Gen.choose(70, 300), Gen.choose(1, 5)) {
      (all, count, bytes, shards) =>
        val world = new World(evenShards(shards))
        val writer = world.writer(limits = RequestLimits(count, bytes.toLong))
        all.foreach { case (size, key) => add(writer, key, "x" * size) }
        val requests = Iterator
          .continually(writer.next(0, isUrgent = true))
          .takeWhile(_.isInstanceOf[Next.Send])
          .map { case Next.Send(it) => it; case _ => fail() }
          .tapEach(it => writer.answered(it, world.write(it), 1)) // eight may be in flight
          .toVector
        val sizes = requests.map(_.entries.map(_.size).sum)
        assert(requests.forall(_.records.length <= count) && sizes.forall(_ <= bytes))
        assert(requests.map(_.records.length).sum === all.size)
        assert(world.counters.bufferedRecords === 0 && world.counters.bufferedBytes === 0)
        assert(world.counters(RecordsWritten) === all.size)
    }
  }

  test("a record waits for others for the linger time, and next returns the end of that time") {
    val writer = new World(evenShards(1)).writer()
    assert(writer.next(0, isUrgent = false) === Next.Wait(Lane.Never))
    add(writer, "k", "1", now = 10)
    assert(writer.next(20, isUrgent = false) === Next.Wait(110))
    add(writer, "k", "2", now = 50)
    writer.next(110, isUrgent = false) match {
      case Next.Send(request) => assert(texts(request) === Seq("1", "2"))
      case other => fail(s"$other")
    }
    assert(writer.next(110, isUrgent = false) === Next.Wait(Lane.Never))
  }

  test("a full request is sent at once") {
    val writer = new World(evenShards(2)).writer(limits = RequestLimits(3, 1000))
    keys.foreach(add(writer, _, "x"))
    assert(writer.next(0, isUrgent = false).isInstanceOf[Next.Wait] && !writer.mayHaveFullRequest)
    add(writer, "k", "x")
    assert(writer.mayHaveFullRequest)
    assert(writer.next(0, isUrgent = false).isInstanceOf[Next.Send])
  }

  test("lanes with equally old records take turns") {
    val world = new World(evenShards(2))
    val writer = world.writer(limits = RequestLimits(2, 1000))
    (1 to 4).foreach(_ => keys.foreach(add(writer, _, "x")))
    val lanes = (1 to 4).map(_ => send(writer).parts.map(_.lane.shard))
    assert(lanes === Seq(lanes.head, lanes(1), lanes.head, lanes(1)) && lanes.head != lanes(1))
  }

  test("an aggregate that is due does not wait for full ones that are younger") {
    val options = SinkOptions(aggregation = Some(AggregateLimits(records = 2)))
    val writer = new World(evenShards(2)).writer(options, RequestLimits(1, 100000))
    add(writer, keys.head, "alone")
    (1 to 4).foreach(_ => add(writer, keys.last, "full", now = 1))
    val sent = Seq(1, options.linger.toMillis).map(writer.next(_, isUrgent = false))
    assert(sent.collect { case Next.Send(it) =>
      rows(it)
    } === Seq(Seq("full", "full"), Seq("alone")))
  }

  test("a lane does not sleep through the growth of its rate, with large rows and many executors") {
    Seq(50, 1000).foreach { executors =>
      val world = new World(evenShards(1), executors)
      val writer = world.writer()
      val large = "x" * 1000000
      var (now, sent) = (0L, 0)
      (1 to 2).foreach(_ => add(writer, "k", large))
      while (sent < 2 && now < 60000) writer.next(now, isUrgent = true) match {
        case Next.Send(request) =>
          now += 30
          sent += request.records.length
          writer.answered(request, world.write(request), now)
        case Next.Wait(until) => now = until
      }
      assert(sent === 2 && now < 10000, s"$executors executors")
    }
  }

  test("a shard that must wait does not hold back another one") {
    val world = new World(evenShards(2))
    val writer = world.writer()
    keys.foreach(add(writer, _, "1"))
    val both = send(writer)
    val first = world.owner(both.entries.head)
    writer.answered(
      both,
      both.entries.map(e => if (world.owner(e) == first) oops else world.write(e)),
      5
    )
    keys.foreach(add(writer, _, "2", now = 5))
    val next = send(writer, 5)
    assert(next.entries.forall(world.owner(_) != first) && texts(next) === Seq("2"))
    assert(writer.next(5, isUrgent = true) === Next.Wait(55)) // a half of 100 ms
    assert(texts(send(writer, 55)) === Seq("1", "2"))
    assert(world.counters(FailedRecords) === 1 && world.counters(RetriedRecords) === 1)
    assert(writer.traffic(55).map(_.sleepMillis).toSet === Set(0, 50))
  }

  test("a lane that waits for other requests of the executor does not wait for its shard") {
    val world = new World(evenShards(2), executors = 8) // two requests after the first answer
    val (one, two) = (world.writer(), world.writer())
    add(one, keys.head, "1")
    one.answered(send(one), Seq(throttled), 5)
    assert(one.next(5, isUrgent = true).isInstanceOf[Next.Wait])
    val others = Seq("2", "3").map { text =>
      add(two, keys.last, text, now = 10)
      send(two, 10)
    }
    assert(one.next(55, isUrgent = true).isInstanceOf[Next.Wait] && one.isHeldBack)
    two.answered(others.head, world.write(others.head), 555)
    send(one, 555)
    assert(one.traffic(555).map(_.sleepMillis) === Seq(50))
  }

  test("a task that has nothing to send any more loses its turn at once") {
    val limit = new RequestLimit(writers = 8)
    val tasks = Vector.fill(3)(new RequestsInFlight(limit))
    assert(tasks.map(_.begin(isWanted = true, now = 0)) === Seq(true, false, false))
    tasks.head.sent(None)
    assert(!tasks(1).begin(isWanted = false, now = 1))
    assert(tasks(2).begin(isWanted = true, now = 2))
  }

  test("rows without a key do not wait for a hot shard: they get another random key") {
    val chances = Iterator.iterate(0.1)(it => (it + 0.37) % 1)
    def hot(world: World, options: SinkOptions): (StreamWriter, ShardId) = {
      val writer = world.writer(options, chance = () => chances.next())
      (1 to 5).foreach(n => add(writer, keys.head, s"hot $n"))
      val request = send(writer)
      writer.answered(request, request.entries.map(_ => throttled), 5)
      assert(writer.next(5, isUrgent = true).isInstanceOf[Next.Wait])
      writer.add(PutEntry(keys.head, "random".getBytes, None, hasRandomKey = true), 5)
      (writer, world.owner(request.entries.head))
    }
    val world = new World(evenShards(2))
    val (writer, hotShard) = hot(world, SinkOptions())
    val request = send(writer, 5)
    assert(texts(request) === Seq("random") && world.owner(request.entries.head) != hotShard)
    assert(world.counters(ReplacedKeys) === 1)
    writer.answered(request, Seq(throttled), 6)
    assert(world.counters(ReplacedKeys) === 1, "no shard is free")
    val other = new World(evenShards(2))
    val (ordered, _) = hot(other, SinkOptions(isOrdered = true))
    assert(ordered.next(5, isUrgent = true).isInstanceOf[Next.Wait])
    assert(other.counters(ReplacedKeys) === 0)
  }

  test("rows without a key leave a shard with more waiting records, even if no shard is behind") {
    val chances = Iterator.iterate(0.1)(it => (it + 0.37) % 1)
    val world = new World(evenShards(4))
    val writer = world.writer(chance = () => chances.next())
    (1 to 100).foreach { n =>
      add(writer, keys.head, s"hot $n")
      (1 to 3).foreach { _ =>
        val key = PutEntry.randomKey((chances.next() * Long.MaxValue).toLong)
        writer.add(PutEntry(key, "random".getBytes, None, hasRandomKey = true), 0)
      }
    }
    val counts = send(writer).entries.groupBy(world.owner).values.map(_.size)
    assert(counts.sum === 400 && counts.forall(n => n >= 70 && n <= 130), counts)
    assert(world.counters(ReplacedKeys) > 0)
  }

  test("if all shards are behind, a row without a key goes where clearly fewer records wait") {
    val chances = Iterator.iterate(0.1)(it => (it + 0.37) % 1)
    val world = new World(evenShards(2))
    val writer = world.writer(chance = () => chances.next())
    def row(key: String) = PutEntry(key, "random".getBytes, None, hasRandomKey = true)
    val hot = keys.head
    val other = keys.find(it => world.owner(row(it)) != world.owner(row(hot))).get
    (1 to 49).foreach(n => add(writer, hot, s"hot $n"))
    add(writer, other, "other")
    val request = send(writer)
    writer.answered(request, request.entries.map(_ => throttled), 5)
    assert(writer.next(5, isUrgent = true).isInstanceOf[Next.Wait])
    writer.add(row(hot), 5)
    assert(world.counters(ReplacedKeys) === 1)
    writer.add(row(other), 5)
    assert(world.counters(ReplacedKeys) === 1)
  }

  test("a row without a key that a shard refused goes to another shard") {
    val chances = Iterator.iterate(0.1)(it => (it + 0.37) % 1)
    val world = new World(evenShards(2))
    val writer = world.writer(chance = () => chances.next())
    writer.add(PutEntry(keys.head, "random".getBytes, None, hasRandomKey = true), 0)
    val first = send(writer)
    writer.answered(first, Seq(throttled), 5)
    val second = send(writer, 6)
    assert(world.owner(second.entries.head) != world.owner(first.entries.head))
    assert(second.entries.head.partitionKey.length === 16)
    writer.answered(second, world.write(second), 7)
    assert(world.counters.bufferedRecords === 0 && world.counters(ReplacedKeys) === 1)
  }

  test("throttling slows down its shard and is counted") {
    val world = new World(evenShards(1))
    val writer = world.writer()
    (1 to 500).foreach(n => add(writer, "k", n.toString))
    val request = send(writer)
    writer.answered(request, request.entries.map(_ => throttled), 1)
    assert(world.counters(ThrottledRecords) === 500)
    assert(!world.stream.rate(id(0), 1).take(1, 1))
    assert(writer.next(2, isUrgent = true).isInstanceOf[Next.Wait])
  }

  test("a request that failed for good, or was abandoned, is not in flight any more") {
    val world = new World(evenShards(1))
    val writer = world.writer()
    Seq("1", "2").foreach { text =>
      add(writer, "k", text)
      send(writer)
    }
    val last = { add(writer, "k", "3"); send(writer) }
    assert(world.stream.requests.current === 3)
    intercept[KinesisException.AccessDenied] {
      writer.failed(last, new KinesisException.AccessDenied("no"), 1)
    }
    assert(world.stream.requests.current === 2)
    writer.abandon()
    assert(world.stream.requests.current === 0)
  }

  test("a response that names another shard leads to a listing, and the lanes change") {
    val world = new World(evenShards(1))
    val writer = world.writer()
    keys.foreach(add(writer, _, "1"))
    world.shards = split
    val request = send(writer)
    assert(!writer.needsShards(0))
    writer.answered(request, world.write(request), 1)
    assert(writer.needsShards(1) && world.counters.bufferedRecords === 0)
    keys.foreach(add(writer, _, "2"))
    writer.listed(world.stream.shardsAfter(writer.shards), 2)
    assert(!writer.needsShards(2))
    val next = send(writer, 2)
    assert(next.parts.map(_.lane.shard).toSet === Set(id(1), id(2)))
    writer.answered(next, world.write(next), 3)
    assert(!writer.needsShards(100000) && world.counters.bufferedRecords === 0)
  }

  test("a record counts for the shard of its lane, also if an answer comes after a reshard") {
    val world = new World(evenShards(1))
    val writer = world.writer()
    def counts = writer.traffic(9).map(it => it.shard -> it.records).toMap
    keys.foreach(add(writer, _, "1"))
    val (early, late) = {
      val first = send(writer)
      keys.foreach(add(writer, _, "2"))
      (first, send(writer))
    }
    writer.answered(early, world.write(early), 0)
    world.shards = split
    writer.listed(world.stream.shardsAfter(writer.shards), 1)
    writer.next(1, isUrgent = true)
    assert(counts === Map(id(0).toString -> 2))
    writer.answered(late, world.write(late), 3)
    assert(counts === Map(id(0).toString -> 4))
  }

  test("a request costs as much with 10,000 shards as with 10: no other lane is looked at") {
    def looks(shards: Int): Long = {
      val writer = new World(evenShards(shards)).writer(limits = RequestLimits(10, 100000))
      val keys = HashKeyRange.even(shards).map(_.first)
      def addTo(lane: Int, now: Long): Unit =
        writer.add(PutEntry("k", "x".getBytes, Some(keys(lane))), now)
      def answer(request: Request, now: Long): Unit = {
        val results = request.parts.flatMap { part =>
          val isFirst = part.lane.shard.number.exists(_ < 10)
          val one = if (isFirst) PutResult.Written(part.lane.shard, number) else throttled
          Vector.fill(part.until - part.from)(one)
        }
        writer.answered(request, results, now)
      }
      keys.indices.foreach { lane =>
        addTo(lane, 0)
        writer.next(0, isUrgent = false) match {
          case Next.Send(request) => answer(request, 0)
          case _ => ()
        }
      }
      writer.next(0, isUrgent = true) // looks at the last refused lanes
      val before = writer.looksAtLanes
      (1 to 10).foreach { n =>
        (0 until 10).foreach(addTo(_, n.toLong))
        answer(send(writer, n.toLong), n.toLong)
        writer.checkDeadline(n.toLong)
      }
      writer.looksAtLanes - before
    }
    val few = looks(10)
    assert(looks(10000) === few && few <= 10 * 40)
  }

  test("after a request without an answer in time, requests are a quarter as large") {
    val world = new World(evenShards(1))
    val writer = world.writer(limits = RequestLimits(40, 400))
    (1 to 80).foreach(n => add(writer, "k", n.toString))
    val (first, gone) = (send(writer), new KinesisException.Unreachable("gone"))
    writer.failed(first, gone, 9999)
    assert(send(writer, 20000).records.length === 40, "a broken connection is no slow server")
    writer.failed(send(writer, 20000), gone, 30000)
    assert(world.stream.requestSize.parts === 4)
    assert(send(writer, 40000).records.length === 10)
  }

  test("the delivery timeout of a record that failed counts also behind younger records") {
    val writer = new World(evenShards(1)).writer(
      SinkOptions(deliveryTimeout = 30.seconds),
      RequestLimits(1, 1000)
    )
    Seq("a", "b").foreach(add(writer, "k", _))
    val (first, second) = (send(writer), send(writer, now = 9000))
    writer.answered(first, Seq(throttled), 9500)
    writer.answered(second, Seq(throttled), 9600)
    writer.checkDeadline(29999)
    assert(
      intercept[DeliveryTimeoutException](writer.checkDeadline(30000)).getMessage.contains("30 s")
    )
  }

  test("the delivery timeout names stream, shard, first failure, and the number of records") {
    val writer = new World(evenShards(1)).writer(SinkOptions(deliveryTimeout = 30.seconds))
    (1 to 7).foreach(n => add(writer, "k", n.toString))
    var now = 0L
    val e = intercept[DeliveryTimeoutException] {
      while (true) {
        writer.checkDeadline(now)
        writer.next(now, isUrgent = true) match {
          case Next.Send(request) =>
            writer.answered(request, request.entries.map(_ => oops), now)
          case Next.Wait(until) => now = until
        }
      }
    }
    assert(now === 30000)
    val message =
      "Stream orders, shard shardId-000000000000, did not accept a record within 30 seconds"
    assert(e.getMessage.startsWith(message))
    assert(e.getMessage.contains("7 records of this task are not acknowledged"))
    assert(e.getMessage.endsWith("The first failure was: oops (InternalFailure)"))
  }

  test("expired credentials get time to be renewed, and rejected ones get none") {
    val writer = new World(evenShards(1)).writer()
    add(writer, "k", "1")
    writer.failed(send(writer), new KinesisException.CredentialsExpired("expired"), 1)
    val e = new KinesisException.BadCredentials("none", mayPass = true)
    writer.failed(send(writer, 1000), e, 29000)
    assert(
      intercept[KinesisException](writer.failed(send(writer, 30000), e, 31000)) eq e
    )
    val others = new World(evenShards(1)).writer()
    add(others, "k", "1")
    intercept[KinesisException.BadCredentials] {
      others.failed(send(others), new KinesisException.BadCredentials("no"), 1)
    }
  }

  test("if the service chooses the shards, the answer needs no object per record") {
    val world = new World(evenShards(1), spreads = Some(4))
    val writer = world.writer()
    (1 to 3).foreach(n => add(writer, "k", n.toString))
    val results = new AnswerOfOneShard(id(7), 3)
    writer.answered(send(writer), results, 1)
    assert(results.read === 0 && world.counters.bufferedRecords === 0)
  }

  test("a response that a library has decoded is counted, and read like any other") {
    val world = new World(evenShards(1))
    val writer = world.writer()
    add(writer, "k", "1")
    val request = send(writer)
    writer.answered(request, new PutResult.Fallback(world.write(request).toVector), 1)
    assert(world.counters(FallbackResponses) === 1 && world.counters(RecordsWritten) === 1)
  }

  test("a response with another number of results is a failed request") {
    val world = new World(evenShards(1))
    val writer = world.writer()
    (1 to 3).foreach(n => add(writer, "k", n.toString))
    writer.answered(send(writer), Nil, 1)
    assert(world.counters(FailedRequests) === 1 && texts(send(writer, 200)) === Seq("1", "2", "3"))
  }
}
