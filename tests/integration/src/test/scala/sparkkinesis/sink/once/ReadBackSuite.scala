package sparkkinesis.sink.once

import java.nio.charset.StandardCharsets.UTF_8
import java.time.Instant
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedQueue}

import scala.collection.mutable
import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client._
import sparkkinesis.model._
import sparkkinesis.model.aggregate.{AggregateBuilder, AggregateTags}
import sparkkinesis.shard.StreamClient
import sparkkinesis.shard.pace.SharedReads
import sparkkinesis.simulator.service.{SimulatedClock, SimulatedKinesis}
import sparkkinesis.simulator.state.{Behaviour, Settings}

/** What is read back from a stream whose shards change and whose service fails. */
class ReadBackSuite extends AnyFunSuite {
  private val begin = Instant.parse("2026-11-22T12:00:00Z")
  private val writer = WriterIdentity("q", 3, "i", 0, 0, 5)

  /** @param wrong how far the clock of the driver is ahead of the service's */
  private final class World(
      settings: Settings = Settings(),
      shards: Int = 2,
      wrong: FiniteDuration = Duration.Zero
  ) {
    val clock = new SimulatedClock(begin)
    val kinesis = new SimulatedKinesis(clock, settings)
    private val name = StreamName("orders")
    val stream: StreamRef = StreamRef.ByName(name)
    kinesis.createStream(name, shards)

    /** The digests of the aggregates, by the key of their row. */
    val digests = mutable.Map.empty[String, Hash128]

    /** Time passes while the read-back waits. */
    val waiting: Clock = new Clock {
      override def now: Instant = clock.now.plusMillis(wrong.toMillis)
      override def elapsedMillis: Long = clock.now.toEpochMilli
      override def sleep(duration: FiniteDuration): Unit = clock.advance(duration)
    }

    def write(by: WriterIdentity, keys: String*): Unit = {
      val tags = new AggregateTags(by.text)
      val entries = keys.map { key =>
        val builder = new AggregateBuilder(ServiceLimits.RecordBytes, tags = Some(tags))
        builder.add(row(key))
        val entry = builder.result()
        digests(key) = Hash128.ofAggregate(entry.data)
        entry
      }
      kinesis.putRecords(stream, entries): Unit
    }

    def split(shard: String): Unit = {
      val all = ListShardsRequest.First(stream, ShardFilter.FromTrimHorizon)
      val range = kinesis.listShards(all).shards.find(_.id == ShardId(shard)).get.hashKeys
      val middle = HashKey((range.first.value + range.last.value) / 2)
      kinesis.splitShard(name, ShardId(shard), middle)
    }

    /** One shard at a time, in the thread of the test. */
    def read(
        client: KinesisClient = kinesis,
        since: Instant = begin,
        only: Option[Map[ShardId, Option[SequenceNumber]]] = None
    ): Seq[FoundAggregate] =
      new ReadBack(
        StreamClient(stream, client, new SharedReads(client.isAws)),
        kinesis.describeStream(stream),
        waiting,
        memory = 1
      ).read(pass(since, only))

    def readKeys(): Set[Hash128] = rows(read()).toSet
  }

  /** For all rows of the batch, or for those of one task that asks about these shards. */
  private def pass(
      from: Instant,
      only: Option[Map[ShardId, Option[SequenceNumber]]] = None
  ): DriverLoop.Pass = only match {
    case None => DriverLoop.EarlierRuns(writer.copy(run = 1), from)
    case Some(all) =>
      val shards = all.toSeq.map { case (shard, after) => ShardInDoubt(shard, 0, after) }
      val question = WriterAsk.Recover(writer.partition, writer.task, 1, shards)
      DriverLoop.Recovery(writer, from, Seq(question))
  }

  private def row(key: String) = PutEntry(key, s"row of $key".getBytes(UTF_8), None)

  private def rows(found: Seq[FoundAggregate]) = found.flatMap(it => Hash128.decode(it.rows))

  private val keys = (1 to 20).map(number => s"key-$number")
  private val hashes = keys.map(key => Hash128.ofRow(row(key))).toSet

  test("finds the rows of the batch in all shards, and no others") {
    val world = new World
    world.write(writer, keys: _*)
    world.write(writer.copy(incarnation = "other"), "a", "b")
    world.write(writer.copy(batch = 4), "c")
    world.kinesis.putRecords(world.stream, Seq(row("plain")))
    assert(world.readKeys() === hashes)
    assert(world.read().map(_.writer).toSet === Set(writer))
  }

  test("reads parents and children of a split") {
    val world = new World
    world.write(writer, keys.take(10): _*)
    world.split("shardId-000000000000")
    world.write(writer, keys.drop(10): _*)
    assert(world.readKeys() === hashes)
  }

  test("a listing that is out of date is noticed by the answer to the marker") {
    val world = new World(Settings(listLag = 3.seconds))
    world.clock.advance(10.seconds)
    world.split("shardId-000000000000")
    world.write(writer, keys: _*)
    assert(world.readKeys() === hashes)
  }

  test("waits for rows and markers that are visible late, and reads on after empty pages") {
    val unlike = Behaviour(visibilityDelay = 1.second, emptyPages = 1, lateShardEnds = 1)
    val world = new World(Settings(behaviour = unlike))
    world.write(writer, keys.take(10): _*)
    world.split("shardId-000000000000")
    world.write(writer, keys.drop(10): _*)
    val patient = new Delegate(world.kinesis) {
      private var calls = 0
      override def getRecords(stream: StreamRef, iterator: ShardIterator, limit: Int): Page = {
        calls += 1
        assert(calls < 200, "it asks without a pause")
        super.getRecords(stream, iterator, limit)
      }
    }
    assert(rows(world.read(patient)).toSet === hashes)
  }

  test("an end of a shard that only an answer reports, and not the listing, is no end") {
    val world = new World(shards = 1)
    world.write(writer, keys: _*)
    val mistaken = new Delegate(world.kinesis) {
      private var calls = 0
      override def getRecords(stream: StreamRef, iterator: ShardIterator, limit: Int): Page = {
        calls += 1
        val page = super.getRecords(stream, iterator, 5)
        if (calls == 2) page.copy(next = None) else page
      }
    }
    assert(rows(world.read(mistaken)).toSet === hashes)
  }

  test("a closed shard that expires while other shards are read had no rows of the batch") {
    val world = new World
    world.split("shardId-000000000000")
    world.clock.advance(23.hours)
    world.write(writer, keys: _*)
    assert(
      rows(world.read(late(world, 2.hours), since = begin.plusSeconds(82000))).toSet === hashes
    )
  }

  test("a clock of the driver that is wrong by hours changes nothing, also before the first page") {
    Seq(-2.hours, 2.hours).foreach { wrong =>
      val world = new World(wrong = wrong)
      world.write(writer, keys: _*)
      world.clock.advance(23.hours)
      var refusals = 3
      val busy = new Delegate(world.kinesis) {
        override def getRecords(stream: StreamRef, iterator: ShardIterator, limit: Int): Page = {
          refusals -= 1
          if (refusals > 0) throw new KinesisException.Throttled("busy")
          super.getRecords(stream, iterator, limit)
        }
      }
      assert(rows(world.read(busy)).toSet === hashes, wrong)
    }
  }

  test("a closed shard that is gone may have had rows, whatever the clock of the driver shows") {
    val world = new World(wrong = -2.hours)
    world.write(writer, keys: _*)
    world.split("shardId-000000000000")
    val e = intercept[OnceException](world.read(late(world, 25.hours)))
    assert(e.condition === OnceException.ReadBackTooLate)
  }

  test("a marker that is visible only ten seconds later is waited for, at five calls per second") {
    val world = new World(shards = 1)
    world.write(writer, keys: _*)
    var calls = 0
    val late = new Delegate(world.kinesis) {
      override def getRecords(stream: StreamRef, iterator: ShardIterator, limit: Int): Page = {
        calls += 1
        if (world.clock.now.isAfter(begin.plusSeconds(10)))
          super.getRecords(stream, iterator, limit)
        else Page(Vector.empty, Some(iterator), 0, Nil)
      }
    }
    assert(rows(world.read(late)).toSet === hashes)
    assert(calls <= 52)
  }

  test("a question about a shard reads and marks only this shard and those that came from it") {
    val world = new World(shards = 4)
    world.write(writer, keys.take(10): _*)
    world.split("shardId-000000000001")
    world.write(writer, keys.drop(10): _*)
    val read = mutable.Set.empty[Option[Long]]
    var markers = 0
    val watched = new Delegate(world.kinesis) {
      override def shardIterator(
          stream: StreamRef,
          shard: ShardId,
          position: Position
      ): ShardIterator = {
        read += shard.number
        super.shardIterator(stream, shard, position)
      }

      override def putRecords(stream: StreamRef, entries: Seq[PutEntry]): Seq[PutResult] = {
        markers += entries.size
        super.putRecords(stream, entries)
      }
    }
    val range = HashKeyRange.even(4)(1)
    val ofShard = keys.filter(key => range.contains(HashKey.of(key)))
    val found = world.read(watched, only = Some(Map(ShardId("shardId-000000000001") -> None)))
    assert(found.map(_.digest).toSet === ofShard.map(world.digests).toSet && ofShard.nonEmpty)
    assert(rows(found).isEmpty, "the rows of whole aggregates need no hashes")
    assert(read === Set(1L, 4L, 5L).map(Option(_)) && markers === 2)
  }

  test("a question about a shard begins after a record, if one is known") {
    val world = new World(shards = 1)
    world.write(writer, keys.head)
    val known = world.kinesis.putRecords(world.stream, Seq(row("plain"))).head match {
      case PutResult.Written(shard, number) => Map(shard -> Option(number))
      case other => fail(s"$other")
    }
    world.write(writer, keys.last)
    assert(world.read(only = Some(known)).map(_.digest) === Seq(world.digests(keys.last)))
  }

  test("a shard that came from one in doubt is read from its start, whatever else is known of it") {
    val world = new World(shards = 1)
    world.split("shardId-000000000000")
    world.write(writer, keys: _*)
    val known = world.kinesis.putRecords(world.stream, Seq(row(keys.head))).collect {
      case PutResult.Written(shard, number) => shard -> Option(number)
    }
    val parent = ShardId("shardId-000000000000") -> Option.empty[SequenceNumber]
    val found = world.read(only = Some((known :+ parent).toMap))
    assert(found.map(_.digest).toSet === world.digests.values.toSet)
  }

  test("a question about a shard that is not listed reads all shards") {
    val world = new World
    world.write(writer, keys: _*)
    val found = world.read(only = Some(Map(ShardId("shardId-000000000077") -> None)))
    assert(found.map(_.digest).toSet === world.digests.values.toSet)
  }

  test("64 shards with 1 MB/s: a doubt in the tenth minute is resolved in 40 s, within the quota") {
    val world = new BusyShards(shards = 64, age = 10.minutes)
    val question = world.all.map { shard =>
      ShardInDoubt(shard, 61000, Some(world.number(world.start - 61000 - 15000)))
    }
    val loop = world.loop
    loop.asked(WriterAsk.Recover(0, 5, 1, question), world.clock.moment)
    val pass = loop.tick(world.clock.moment).collectFirst { case DriverLoop.Command.Read(it) => it }
    world.read(pass.get)
    info(s"it took ${world.longest / 1000.0} s, and ${world.refusals.get} calls were refused")
    assert(world.longest <= 40000 && world.refusals.get === 0)
  }

  /**
   * A stream of AWS whose shards have received 1 MB/s for so long. Each thread has a time of its
   * own, as if calls of several threads took place at once.
   */
  private final class BusyShards(shards: Int, age: FiniteDuration) extends KinesisClient {
    val all: Seq[ShardId] = (0 until shards).map(n => ShardId(f"shardId-$n%012d"))
    val start: Long = begin.toEpochMilli + age.toMillis
    private val now = ThreadLocal.withInitial[Long](() => start)
    private val ends = new ConcurrentLinkedQueue[Long]
    private val used = new ConcurrentHashMap[String, Quota]
    val refusals = new AtomicInteger

    val clock: Clock = new Clock {
      override def now: Instant = Instant.ofEpochMilli(BusyShards.this.now.get)
      override def sleep(duration: FiniteDuration): Unit = pass(duration.toMillis)
    }

    private def pass(millis: Long): Unit = now.set(now.get + millis)

    private val stream = StreamRef.ByName(StreamName("orders"))
    private val summary =
      new World().kinesis.describeStream(stream)

    val loop = new DriverLoop(
      writer,
      begin,
      Moment(begin, begin),
      begin,
      Moment(begin, begin),
      OnceTerms()
    )

    /** Milliseconds that the slowest shard took. */
    def longest: Long = ends.asScala.max - start

    def read(pass: DriverLoop.Pass): Unit = {
      val client = StreamClient(stream, this, new SharedReads(isAws = true))
      val found = new ReadBack(client, summary, clock, memory = 128L << 20).read(pass)
      assert(found === Nil)
    }

    def number(time: Long): SequenceNumber = SequenceNumber(time.toString)

    override def describeStream(stream: StreamRef): StreamSummary = summary

    override def listShards(request: ListShardsRequest): ShardListing = {
      val listed = all.zip(HashKeyRange.even(shards)).map { case (id, range) =>
        Shard(id, Nil, range, number(begin.toEpochMilli), None)
      }
      ShardListing(listed, None, Some(clock.now))
    }

    override def putRecords(stream: StreamRef, entries: Seq[PutEntry]): Seq[PutResult] =
      all.map(PutResult.Written(_, number(start)))

    override def shardIterator(
        stream: StreamRef,
        shard: ShardId,
        position: Position
    ): ShardIterator = position match {
      case Position.AfterSequenceNumber(after) => ShardIterator(s"$shard ${after.text.toLong + 1}")
      case other => fail(s"$other")
    }

    /** The next records after the iterator, as the limits of the service and the quota allow. */
    override def getRecords(stream: StreamRef, iterator: ShardIterator, limit: Int): Page = {
      val parts = iterator.token.split(' ')
      val (shard, from) = (parts(0), parts(1))
      pass(20)
      val quota = used.computeIfAbsent(shard, _ => new Quota)
      if (!quota.allows(now.get)) {
        refusals.incrementAndGet()
        throw new KinesisException.Throttled("busy")
      }
      val records = Iterator
        .iterate(nextRecord(from.toLong))(_ + Period)
        .takeWhile(_ <= start)
        .take(math.min(limit, 10 * 1024 * 1024 / Bytes))
        .map(at => Record(number(at), Some("key"), Bytes50, at, Record.NotEncrypted))
        .toVector
      quota.take(records.size * Bytes)
      val last = records.lastOption.fold(from.toLong)(_.arrivalMillis)
      if (last >= start - Period) ends.add(now.get)
      Page(records, Some(ShardIterator(s"$shard ${last + 1}")), Some(start - last), Nil)
    }

    private def nextRecord(from: Long) = from + (start - from) % Period

    override def close(): Unit = ()
  }

  private val Bytes = 50 * 1024
  private val Bytes50 = new Array[Byte](Bytes)

  /** 20 records of 50 kB per second are 1 MB/s. */
  private val Period = 50L

  /** Of one shard: 2 MB and five calls per second. */
  private final class Quota {
    private var (bytes, calls, at) = (2.0 * 1024 * 1024, 5.0, 0L)

    def allows(now: Long): Boolean = {
      if (at > 0) {
        bytes = math.min(2.0 * 1024 * 1024, bytes + (now - at) * 2.0 * 1024 * 1024 / 1000)
        calls = math.min(5.0, calls + (now - at) * 5.0 / 1000)
      }
      at = now
      val isAllowed = bytes > 0 && calls >= 1
      if (isAllowed) calls -= 1
      isAllowed
    }

    def take(read: Int): Unit = bytes -= read
  }

  test("a marker that is not there although later records are fails the attempt by name") {
    val world = new World(shards = 1)
    world.write(writer, keys: _*)
    val forgetful = new Delegate(world.kinesis) {
      override def getRecords(stream: StreamRef, iterator: ShardIterator, limit: Int): Page = {
        world.write(writer.copy(task = 6), "late")
        val page = super.getRecords(stream, iterator, limit)
        page.copy(records = page.records.filterNot(it => AggregateTags.textOf(it.data).isEmpty))
      }
    }
    val e = intercept[OnceException](world.read(forgetful))
    assert(e.condition === OnceException.ReadBackFailed && e.getMessage.contains("its marker"))
  }

  test("what is written after the marker is not read, so that a busy stream ends") {
    val world = new World(shards = 1)
    world.write(writer, keys.head)
    val busy = new Delegate(world.kinesis) {
      override def getRecords(stream: StreamRef, iterator: ShardIterator, limit: Int): Page = {
        world.write(writer.copy(task = 6), "late")
        super.getRecords(stream, iterator, 1)
      }
    }
    assert(world.read(busy).map(_.writer) === Seq(writer))
  }

  test("more rows than an array can hold fail the write by name, however many shards have them") {
    val world = new World
    world.write(writer, keys: _*)
    def read(mostRows: Long) = {
      val bytes = mostRows * Hash128.Bytes
      val all =
        new ReadBack(
          StreamClient(world.stream, world.kinesis),
          world.kinesis.describeStream(world.stream),
          world.waiting,
          mostBytes = bytes
        )
      rows(all.read(pass(begin))).toSet
    }
    assert(read(mostRows = 20) === hashes)
    val e = intercept[OnceException](read(mostRows = 19))
    assert(
      e.condition === OnceException.ReadBackFailed && e.getMessage.contains("more than 19 rows")
    )
  }

  test("nothing before the first attempt is read") {
    val world = new World
    world.write(writer, keys.head)
    world.clock.advance(1.minute)
    world.write(writer, keys.last)
    val found = world.read(since = begin.plusSeconds(30))
    assert(rows(found) === Seq(Hash128.ofRow(row(keys.last))))
  }

  test("throttling is waited out; a service that never answers fails the write by name") {
    val world = new World
    world.write(writer, keys: _*)
    var left = 3
    val busy = new Delegate(world.kinesis) {
      override def listShards(request: ListShardsRequest): ShardListing = {
        left -= 1
        if (left > 0) throw new KinesisException.Throttled("busy") else super.listShards(request)
      }
    }
    assert(rows(world.read(busy)).toSet === hashes)
    val dead = new Delegate(world.kinesis) {
      override def listShards(request: ListShardsRequest): ShardListing =
        throw new KinesisException.Unreachable("gone")
    }
    val e = intercept[OnceException](world.read(dead))
    assert(e.condition === OnceException.ReadBackFailed && e.getMessage.contains("gone"))
  }

  test("rows that may have expired while the stream was read fail the write by name") {
    val world = new World
    world.write(writer, keys: _*)
    def slow(time: FiniteDuration) = new Delegate(world.kinesis) {
      override def getRecords(stream: StreamRef, iterator: ShardIterator, limit: Int): Page = {
        val page = super.getRecords(stream, iterator, limit)
        world.clock.advance(time)
        page.copy(serverTime = Some(world.clock.now))
      }
    }
    assert(rows(world.read(slow(1.minute))).toSet === hashes)
    val e = intercept[OnceException](world.read(slow(13.hours)))
    assert(e.condition === OnceException.ReadBackTooLate)
  }

  test("rows that arrived after what was read may be as old as the retention period") {
    val world = new World(shards = 1)
    world.write(writer, keys.head)
    world.clock.advance(10.hours)
    world.write(writer, keys.slice(1, 3): _*)
    def slow(time: FiniteDuration) = new Delegate(world.kinesis) {
      override def getRecords(stream: StreamRef, iterator: ShardIterator, limit: Int): Page = {
        val page = super.getRecords(stream, iterator, 1)
        world.clock.advance(time)
        page
      }
    }
    assert(rows(world.read(slow(5.hours))) === keys.take(3).map(key => Hash128.ofRow(row(key))))
  }

  test("one call marks all shards, and only those without a marker are marked again") {
    val world = new World(shards = 4)
    var sizes = Vector.empty[Int]
    val busy = new Delegate(world.kinesis) {
      override def putRecords(stream: StreamRef, entries: Seq[PutEntry]): Seq[PutResult] = {
        sizes :+= entries.size
        if (sizes.size > 1) super.putRecords(stream, entries)
        else super.putRecords(stream, entries.take(1)) ++ entries.tail.map(_ => throttled)
      }
    }
    world.read(busy)
    assert(sizes === Seq(4, 3))
  }

  test("a stream that takes few markers at a time is marked, however long it takes") {
    val world = new World(shards = 200)
    val busy = new Delegate(world.kinesis) {
      override def putRecords(stream: StreamRef, entries: Seq[PutEntry]): Seq[PutResult] =
        super.putRecords(stream, entries.take(1)) ++ entries.tail.map(_ => throttled)
    }
    assert(world.read(busy) === Nil)
  }

  test("a marker that is refused for good fails at once, also beside throttled ones") {
    val world = new World
    val denied = PutResult.Failed("KMSAccessDeniedException", "no")
    val refusing = new Delegate(world.kinesis) {
      override def putRecords(stream: StreamRef, entries: Seq[PutEntry]): Seq[PutResult] =
        Seq(throttled, denied)
    }
    intercept[KinesisException.AccessDenied](world.read(refusing))
  }

  /** The service, if that time passes before the first shard is read. */
  private def late(world: World, time: FiniteDuration) = new Delegate(world.kinesis) {
    override def shardIterator(
        stream: StreamRef,
        shard: ShardId,
        position: Position
    ): ShardIterator = {
      if (shard == ShardId("shardId-000000000000")) world.clock.advance(time)
      super.shardIterator(stream, shard, position)
    }
  }

  private val throttled = PutResult.Failed("ProvisionedThroughputExceededException", "busy")

  /** The service, to be changed in part. */
  private abstract class Delegate(kinesis: KinesisClient) extends KinesisClient {
    override def describeStream(stream: StreamRef): StreamSummary = kinesis.describeStream(stream)
    override def listShards(request: ListShardsRequest): ShardListing = kinesis.listShards(request)
    override def shardIterator(
        stream: StreamRef,
        shard: ShardId,
        position: Position
    ): ShardIterator = kinesis.shardIterator(stream, shard, position)
    override def getRecords(stream: StreamRef, iterator: ShardIterator, limit: Int): Page =
      kinesis.getRecords(stream, iterator, limit)
    override def putRecords(stream: StreamRef, entries: Seq[PutEntry]): Seq[PutResult] =
      kinesis.putRecords(stream, entries)
    override def close(): Unit = ()
  }
}
