package sparkkinesis.sink.lane

import scala.concurrent.duration._

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.client.{KinesisException, ListShardsRequest, PutResult, ShardListing}
import sparkkinesis.model._
import sparkkinesis.model.aggregate.UserRecords
import sparkkinesis.sink.lane.Lanes.Next
import sparkkinesis.sink.rate.TargetStream
import sparkkinesis.sink.write.DeliveryTimeoutException
import sparkkinesis.sink.{FakeKinesis, FastClock, SinkCounters, SinkOptions}

/** Which records make a request, and what comes of the answers. */
class LanesSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val ref = StreamRef.ByName(StreamName("orders"))
  private val hash = new KeyHash

  private def shard(
      number: Int,
      range: HashKeyRange,
      isOpen: Boolean = true,
      parents: Seq[Int] = Nil
  ) =
    Shard(
      id(number),
      parents.map(id),
      range,
      SequenceNumber("1"),
      if (isOpen) None else Some(SequenceNumber("2"))
    )

  private def id(number: Int) = ShardId(f"shardId-$number%012d")

  private def evenShards(count: Int): Seq[Shard] =
    HashKeyRange.even(count).zipWithIndex.map { case (range, i) => shard(i, range) }

  /** Lists shards that change. */
  private final class World(var shards: Seq[Shard]) {
    val counters = new SinkCounters
    val stream = new TargetStream(
      ref,
      new FakeKinesis((_, _) => Nil) {
        override def listShards(request: ListShardsRequest): ShardListing =
          ShardListing(shards, None, None)
      },
      ServiceLimits.RecordBytes,
      None,
      1,
      new FastClock,
      () => 0.5
    )

    def lanes(options: SinkOptions = SinkOptions(), limits: RequestLimits = RequestLimits.Default) =
      new Lanes(stream, limits, options, () => 0.5, counters, 0)

    /** The shard of now that the hash key belongs to. */
    def owner(entry: PutEntry): ShardId = {
      val key = entry.explicitHashKey.getOrElse(HashKey.of(entry.partitionKey))
      shards.find(it => it.isOpen && it.hashKeys.contains(key)).get.id
    }

    def write(entry: PutEntry): PutResult = PutResult.Written(owner(entry), SequenceNumber("7"))

    def write(request: Request): Seq[PutResult] = request.entries.map(write)
  }

  private def add(lanes: Lanes, key: String, text: String, now: Long = 0): Unit = {
    val entry = PutEntry(key, text.getBytes, None)
    hash.hash(entry)
    lanes.add(entry, hash.hi, hash.lo, now)
  }

  private def send(lanes: Lanes, now: Long = 0): Request = lanes.next(now, isPressed = true) match {
    case Next.Send(request) => request
    case other => fail(s"$other")
  }

  private def texts(request: Request): Seq[String] = request.entries.map(it => new String(it.data))

  private val throttled = PutResult.Failed("ProvisionedThroughputExceededException", "slow down")
  private val oops = PutResult.Failed("InternalFailure", "oops")

  /** A key of each of two shards. */
  private val keys = {
    val ranges = HashKeyRange.even(2)
    ranges.map(r => Iterator.from(0).map(n => s"k$n").find(k => r.contains(HashKey.of(k))).get)
  }

  test("no request breaks a limit, and all that was added goes, once") {
    val records = Gen.listOf(Gen.zip(Gen.choose(0, 60), Gen.oneOf("k", "ключ", "🔑", "z")))
    forAll(records, Gen.choose(1, 9), Gen.choose(70, 300), Gen.choose(1, 5)) {
      (all, count, bytes, shards) =>
        val world = new World(evenShards(shards))
        val lanes = world.lanes(limits = RequestLimits(count, bytes.toLong))
        all.foreach { case (size, key) => add(lanes, key, "x" * size) }
        val requests = Iterator
          .continually(lanes.next(0, isPressed = true))
          .takeWhile(_.isInstanceOf[Next.Send])
          .map { case Next.Send(it) => it; case _ => fail() }
          .toVector
        val sizes = requests.map(_.entries.map(EntrySize.of).sum)
        assert(requests.forall(_.records.length <= count) && sizes.forall(_ <= bytes))
        assert(requests.map(_.records.length).sum === all.size)
        requests.foreach(it => lanes.answered(it, world.write(it), 1))
        assert(world.counters.waiting === 0 && world.counters.buffered === 0)
        assert(world.counters.records === all.size)
    }
  }

  test("a record waits for others as long as may be, and the wait is told") {
    val lanes = new World(evenShards(1)).lanes()
    assert(lanes.next(0, isPressed = false) === Next.Wait(Lane.Never))
    add(lanes, "k", "1", now = 10)
    assert(lanes.next(20, isPressed = false) === Next.Wait(110))
    add(lanes, "k", "2", now = 50)
    lanes.next(110, isPressed = false) match {
      case Next.Send(request) => assert(texts(request) === Seq("1", "2"))
      case other => fail(s"$other")
    }
    assert(lanes.next(110, isPressed = false) === Next.Wait(Lane.Never))
  }

  test("a full request goes at once") {
    val lanes = new World(evenShards(2)).lanes(limits = RequestLimits(3, 1000))
    keys.foreach(add(lanes, _, "x"))
    assert(lanes.next(0, isPressed = false).isInstanceOf[Next.Wait] && !lanes.isWorthALook)
    add(lanes, "k", "x")
    assert(lanes.isWorthALook)
    assert(lanes.next(0, isPressed = false).isInstanceOf[Next.Send])
  }

  test("a shard that is held back holds no other back") {
    val world = new World(evenShards(2))
    val lanes = world.lanes()
    keys.foreach(add(lanes, _, "1"))
    val both = send(lanes)
    val first = world.owner(both.entries.head)
    lanes.answered(
      both,
      both.entries.map(e => if (world.owner(e) == first) oops else world.write(e)),
      5
    )
    keys.foreach(add(lanes, _, "2", now = 5))
    val next = send(lanes, 5)
    assert(next.entries.forall(world.owner(_) != first) && texts(next) === Seq("2"))
    assert(lanes.next(5, isPressed = true) === Next.Wait(55)) // a half of 100 ms
    assert(texts(send(lanes, 55)) === Seq("1", "2"))
    assert(world.counters.failed === 1 && world.counters.retried === 1)
    assert(lanes.sleep(55).map(_.millis) === Some(50))
  }

  test("throttling slows its shard down, and counts") {
    val world = new World(evenShards(1))
    val lanes = world.lanes()
    (1 to 500).foreach(n => add(lanes, "k", n.toString))
    val request = send(lanes)
    lanes.answered(request, request.entries.map(_ => throttled), 1)
    assert(world.counters.throttled === 500)
    assert(world.stream.rate(id(0), 1).share <= 0.5)
    assert(lanes.next(2, isPressed = true).isInstanceOf[Next.Wait])
  }

  private val ordered = SinkOptions(isOrdered = true)

  test("ordered: one request of a lane in flight, of each key one record, what failed goes first") {
    val world = new World(evenShards(1))
    val lanes = world.lanes(ordered)
    Seq("a" -> "a1", "a" -> "a2", "b" -> "b1", "a" -> "a3", "b" -> "b2").foreach { case (k, t) =>
      add(lanes, k, t)
    }
    val first = send(lanes)
    assert(texts(first) === Seq("a1", "b1"))
    assert(lanes.next(0, isPressed = true) === Next.Wait(Lane.Never))
    lanes.answered(first, Seq(oops, world.write(first.entries.last)), 1)
    val second = send(lanes, 51)
    assert(texts(second) === Seq("a1", "b2"))
    lanes.answered(second, world.write(second), 52)
    val third = send(lanes, 52)
    assert(texts(third) === Seq("a2"))
    lanes.failed(third, new KinesisException.Unreachable("no answer"), 53)
    assert(texts(send(lanes, 200)) === Seq("a2"))
  }

  private val halves = HashKeyRange.even(2)
  private def split: Seq[Shard] =
    Seq(
      shard(0, HashKeyRange.All, isOpen = false),
      shard(1, halves.head, parents = Seq(0)),
      shard(2, halves.last, parents = Seq(0))
    )

  test("an answer that names another shard has the shards listed, and lanes change") {
    val world = new World(evenShards(1))
    val lanes = world.lanes()
    keys.foreach(add(lanes, _, "1"))
    world.shards = split
    val request = send(lanes)
    assert(!lanes.wantsShards(0))
    lanes.answered(request, world.write(request), 1)
    assert(lanes.wantsShards(1) && world.counters.waiting === 0)
    keys.foreach(add(lanes, _, "2"))
    lanes.learn(world.stream.shardsAfter(lanes.shards), 2)
    assert(!lanes.wantsShards(2))
    val next = send(lanes, 2)
    assert(next.parts.map(_.lane.shard).toSet === Set(id(1), id(2)))
    lanes.answered(next, world.write(next), 3)
    assert(!lanes.wantsShards(100000) && world.counters.waiting === 0)
  }

  test("ordered: lanes change only when every answer has come") {
    val world = new World(evenShards(1))
    val lanes = world.lanes(ordered)
    (1 to 2).foreach(n => keys.foreach(add(lanes, _, n.toString)))
    val request = send(lanes)
    world.shards = split
    lanes.learn(world.stream.shardsAfter(lanes.shards), 1)
    assert(lanes.next(1, isPressed = true) === Next.Wait(Lane.Never))
    lanes.failed(request, new KinesisException.ServiceFailure("oops"), 2)
    val next = send(lanes, 500)
    assert(next.parts.size === 2 && texts(next) === Seq("1", "1"))
  }

  private val aggregating = SinkOptions(aggregation = Some(AggregateLimits(1000, 100)))

  test("records of a lane are one aggregate, bounded by size and count") {
    val world = new World(evenShards(1))
    val lanes = world.lanes(aggregating)
    (1 to 250).foreach(n => add(lanes, "k", n.toString))
    val request = send(lanes)
    assert(request.records.map(_.users).toSeq === Seq(100, 100, 50))
    assert(
      request.entries.flatMap(UserRecords.of).map(it => new String(it.data).toInt) === (1 to 250)
    )
    lanes.answered(request, world.write(request), 1)
    assert(world.counters.records === 250 && world.counters.entries === 3)
    (1 to 3).foreach(_ => add(lanes, "k", "x" * 400))
    assert(send(lanes, 1).records.map(_.users).toSeq === Seq(2, 1))
  }

  test("an aggregate in a shard to which not all of it belongs is written anew, whole") {
    val world = new World(evenShards(1))
    val lanes = world.lanes(aggregating)
    keys.foreach(add(lanes, _, "1"))
    world.shards = split
    val request = send(lanes)
    lanes.answered(request, world.write(request), 1)
    assert(world.counters.waiting === 2, "it counts for nothing")
    assert(lanes.wantsShards(1))
    lanes.learn(world.stream.shardsAfter(lanes.shards), 2)
    val next = send(lanes, 2)
    assert(texts(next) === Seq("1", "1") && world.counters.misplaced === 1)
    lanes.answered(next, world.write(next), 3)
    assert(world.counters.waiting === 0 && world.counters.records === 2)
  }

  test("an aggregate of which all belongs to the other shard is good") {
    val world = new World(evenShards(1))
    val lanes = world.lanes(aggregating)
    (1 to 3).foreach(n => add(lanes, keys.head, n.toString))
    world.shards = split
    val request = send(lanes)
    lanes.answered(request, world.write(request), 1)
    assert(world.counters.waiting === 3)
    lanes.learn(world.stream.shardsAfter(lanes.shards), 2)
    assert(lanes.next(2, isPressed = true) === Next.Wait(Lane.Never))
    assert(world.counters.waiting === 0 && world.counters.misplaced === 0)
  }

  private val both = aggregating.copy(isOrdered = true)

  private def users(request: Request): Seq[String] =
    request.entries.flatMap(UserRecords.of).map(it => new String(it.data))

  test("ordered: an aggregate in a wrong shard holds its lane, and goes before what waits") {
    val world = new World(evenShards(1))
    val lanes = world.lanes(both)
    keys.foreach(key => Seq("1", "2").foreach(add(lanes, key, _)))
    world.shards = split
    val request = send(lanes)
    keys.foreach(add(lanes, _, "3"))
    lanes.answered(request, world.write(request), 1)
    assert(lanes.next(1, isPressed = true) === Next.Wait(Lane.Never))
    lanes.learn(world.stream.shardsAfter(lanes.shards), 2)
    assert(users(send(lanes, 2)) === Seq("1", "2", "3", "1", "2", "3"))
  }

  test("ordered: so it is where lanes change before its shard is listed") {
    val world = new World(evenShards(1))
    val lanes = world.lanes(both)
    keys.foreach(add(lanes, _, "1"))
    val request = send(lanes)
    keys.foreach(add(lanes, _, "2"))
    lanes.answered(
      request,
      request.entries.map(_ => PutResult.Written(id(4), SequenceNumber("7"))),
      1
    )
    world.shards = split
    lanes.learn(world.stream.shardsAfter(lanes.shards), 2)
    assert(lanes.next(2, isPressed = true) === Next.Wait(Lane.Never))
    val (low, high) = halves.head.splitAt(HashKey(7))
    world.shards = split ++ Seq(shard(3, low, parents = Seq(1)), shard(4, high, parents = Seq(1)))
    lanes.learn(world.stream.shardsAfter(lanes.shards), 3)
    assert(users(send(lanes, 3)) === Seq("1", "2", "1", "2"))
  }

  test("ordered: on its way to another lane a record alone does not overtake an aggregate") {
    val world = new World(evenShards(1))
    val lanes = world.lanes(both.copy(aggregation = Some(AggregateLimits(1000, 2))))
    (1 to 3).foreach(n => add(lanes, keys.head, n.toString))
    val first = send(lanes)
    lanes.failed(first, new KinesisException.Unreachable("no answer"), 1)
    world.shards = split
    lanes.learn(world.stream.shardsAfter(lanes.shards), 2)
    assert(users(send(lanes, 500)) === Seq("1", "2"))
  }

  test("what is not taken in time fails, naming stream, shard, first failure, and how many wait") {
    val lanes = new World(evenShards(1)).lanes(SinkOptions(deliveryTimeout = 30.seconds))
    (1 to 7).foreach(n => add(lanes, "k", n.toString))
    var now = 0L
    val e = intercept[DeliveryTimeoutException] {
      while (true) lanes.next(now, isPressed = true) match {
        case Next.Send(request) =>
          lanes.answered(request, request.entries.map(_ => oops), now)
        case Next.Wait(until) => now = until
      }
    }
    assert(now === 30000)
    val said = "Stream orders, shard shardId-000000000000, did not take a record within 30 seconds"
    assert(e.getMessage.startsWith(said))
    assert(e.getMessage.contains("7 records of this task wait"))
    assert(e.getMessage.endsWith("The first failure was: oops (InternalFailure)"))
  }

  test("expired credentials are given time to be renewed, once; refused ones none") {
    val lanes = new World(evenShards(1)).lanes()
    add(lanes, "k", "1")
    def expired = new KinesisException.CredentialsExpired("expired")
    lanes.failed(send(lanes), expired, 1)
    lanes.failed(send(lanes, 1000), expired, 29000)
    val e = expired
    assert(
      intercept[KinesisException](lanes.failed(send(lanes, 30000), e, 31000)) eq e
    )
    val others = new World(evenShards(1)).lanes()
    add(others, "k", "1")
    intercept[KinesisException.BadCredentials] {
      others.failed(send(others), new KinesisException.BadCredentials("no"), 1)
    }
  }

  test("an answer for another number of records is none") {
    val world = new World(evenShards(1))
    val lanes = world.lanes()
    (1 to 3).foreach(n => add(lanes, "k", n.toString))
    lanes.answered(send(lanes), Nil, 1)
    assert(world.counters.failedRequests === 1 && texts(send(lanes, 200)) === Seq("1", "2", "3"))
  }
}
