package sparkkinesis.source.store

import java.time.Instant

import scala.collection.mutable
import scala.concurrent.duration._
import scala.concurrent.{Await, Promise}

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.Allocations
import sparkkinesis.Generators._
import sparkkinesis.client.{Clock, KinesisException, ResponseRoom}
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{PackedRecords, Record, SequenceNumber, ServiceLimits, StreamShard}
import sparkkinesis.shard.{FetchMemory, ShardRange}
import sparkkinesis.sink.FastClock

/**
 * The buffered bytes of an executor
 *   - never exceed the capacity plus the spare room, even if pages are larger than expected;
 *   - are shared evenly by the queries that run there at the same time.
 */
class PageStoreMemorySuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val largest = FetchMemory.LargestPage
  private val mega = 1L << 20

  /** A query. Its pages have any size, but allocate no bytes. */
  private final class Query(memory: FetchMemory, capacity: Long) {
    private val account = memory.join(capacity)
    val store = new PageStore(account)
    private val content = mutable.Map.empty[StreamShard, Long].withDefaultValue(0L)
    private var requested = Map.empty[StreamShard, Long]
    private var arriving = Map.empty[StreamShard, (Long, FetchMemory#Arrival)]

    /** Bytes in memory: pages, and responses that are being read. */
    def inMemory: Long = store.bytes + arriving.values.map(_._1).sum

    def ask(shard: StreamShard, estimate: Long, actual: Long): Boolean = {
      val isIn = !requested.contains(shard) && !arriving.contains(shard) &&
        store.reserve(shard, estimate, 8, Instant.EPOCH)
      if (isIn) requested += shard -> actual
      isIn
    }

    /** Others wait for the shard. */
    def awaited(shard: StreamShard, wasRefused: Boolean): Unit =
      if (store.reserve(shard, largest, 64, Instant.EPOCH, isAwaited = true, wasRefused))
        requested += shard -> largest

    /** The responses begin to arrive, if there is memory for them. */
    def respond(): Int = {
      requested.foreach { case (shard, actual) =>
        val arrival = account.arrival()
        if (arrival.admits(actual)) arriving += shard -> ((actual, arrival))
      }
      requested --= arriving.keys
      arriving.size
    }

    def arrive(): Unit = {
      respond()
      arriving.foreach { case (shard, (actual, arrival)) =>
        val number = content(shard)
        content(shard) = number + 1
        val record = Record(SequenceNumber(s"${number + 1}"), None, new Array[Byte](0), 0, None)
        val from =
          if (number == 0) Progress.TrimHorizon else Progress.After(SequenceNumber(s"$number"))
        store.add(shard, StoredPage(from, sized(record, actual), after(record)))
        arrival.close()
        store.release(shard)
      }
      arriving = Map.empty
    }
  }

  /** A page with one record in an array of that size. All pages share the array. */
  private def sized(record: Record, bytes: Long): PackedRecords = {
    val others = PackedRecords(Vector(record)).bytes + StoredPage.ObjectBytes
    val size = (bytes - others).toInt + record.sequenceNumber.text.length
    val content = arrays.getOrElseUpdate(size, new Array[Byte](size))
    val number = record.sequenceNumber.text.getBytes
    System.arraycopy(number, 0, content, 0, number.length)
    val builder = new PackedRecords.Builder(content, 1)
    builder.number(0, number.length)
    builder.add(0, None)
    builder.result()
  }

  private val arrays = mutable.Map.empty[Int, Array[Byte]]

  private val turns = Gen.listOfN(
    30,
    for {
      shard <- Gen.choose(0, 7)
      estimate <- Gen.oneOf(64L << 10, 1L << 20, ServiceLimits.GetRecordsBytes.toLong)
      isLarge <- Gen.oneOf(true, false)
      isOver <- Gen.frequency(1 -> true, 15 -> false)
    } yield (shardOf(shard), estimate, isLarge, isOver)
  )

  test("a shard that asks for room costs as much beside 10,000 that wait as beside 10") {
    def bytesPerRefusal(shards: Int): Long = {
      val store = new PageStore(new FetchMemory().join(mega))
      val all = Vector.tabulate(shards)(shardOf)
      def ask(it: StreamShard) = store.reserve(it, mega, shards, Instant.EPOCH)
      assert(all.count(ask) === 1)
      Allocations.in((1 to 3).foreach(_ => assert(all.count(ask) === 0))) / shards
    }
    bytesPerRefusal(1000) // loads classes
    assert(bytesPerRefusal(10000) < bytesPerRefusal(10) * 10)
  }

  test("pages fit in the capacity, or one per query, and the spare room, however large they are") {
    forAll(turns, Gen.oneOf(Gen.const(1), Gen.choose(1, 50)), Gen.choose(1L, 300L)) {
      (turns, count, size) =>
        val memory = new FetchMemory
        val queries = Vector.fill(count)(new Query(memory, size * mega))
        val allowed = math.max(size * mega, count * largest) + FetchMemory.SpareBytes
        for ((turn, number) <- (turns ++ turns ++ turns).zipWithIndex) {
          val query = queries(number % count)
          query.ask(turn._1, 64L << 10, if (turn._3) largest else 100000L)
          if (turn._4) query.arrive() else query.respond()
          assert(queries.map(_.inMemory).sum <= allowed)
        }
    }
  }

  test("with a full store a few large responses are read at a time, with free room many") {
    def many(held: Long) = {
      val query = new Query(new FetchMemory, 256 * mega)
      if (held > 0) {
        query.ask(shardOf(99), held, held)
        query.arrive()
      }
      (0 until 100).foreach(n => query.ask(shardOf(n), 64L << 10, 10 * mega))
      query.respond()
    }
    assert(many(0) >= 20)
    assert(many(240 * mega) >= 4 && many(240 * mega) <= 6)
  }

  test("a response waits until pages are dropped") {
    val account = new FetchMemory().join(10 * mega)
    account.hold(70 * mega)
    val room = account.arrival()
    assert(!room.admits(10 * mega))
    val read = Promise[Boolean]()
    val reader = new Thread(() => { read.success(room.await(10 * mega)); () })
    reader.start()
    account.hold(-60 * mega)
    assert(Await.result(read.future, 1.minute))
    room.close()
    assert(account.arrival().admits(largest))
  }

  test("a response for which there is no memory is read later, when the store has room for it") {
    val memory = new FetchMemory(clock = new FastClock)
    val account = memory.join(10 * mega)
    account.hold(70 * mega)
    val room = account.arrival()
    def call(): Int =
      if (ResponseRoom.ofThread.await(9 * mega)) 1 else throw new KinesisException.Other("full")
    assert(room.receive(call()) === Left(9 * mega))
    account.hold(-70 * mega)
    assert(room.receive(call()) === Right(1))
    val e = new KinesisException.Other("another reason")
    assert(intercept[KinesisException](room.receive(throw e)) eq e)
  }

  test("a response that waited for memory, and was then cut off by the timeout, is read later") {
    lazy val account = new FetchMemory(clock = clock).join(10 * mega)
    lazy val clock: Clock = new Clock {
      override def now: Instant = Instant.EPOCH
      override def sleep(duration: FiniteDuration): Unit = ()
      override def await(monitor: AnyRef, millis: Long): Unit = account.hold(-70 * mega)
    }
    def call(failure: KinesisException): Int =
      if (ResponseRoom.ofThread.await(9 * mega)) throw failure else fail("there was room")
    def receive(failure: KinesisException): Either[Long, Int] = {
      val room = account.arrival()
      try room.receive(call(failure))
      finally room.close()
    }
    val (late, other) = (new KinesisException.Unreachable("late"), new KinesisException.Other(""))
    account.hold(70 * mega)
    assert(receive(late) === Left(9 * mega))
    assert(intercept[KinesisException](receive(late)) eq late, "it did not wait")
    account.hold(70 * mega)
    assert(intercept[KinesisException](receive(other)) eq other)
  }

  test("a service's share shrinks when services start, grows when they end, and its pages stay") {
    val memory = new FetchMemory
    val query = new Query(memory, 100 * mega)
    assert(query.ask(shardOf(0), 60 * mega, 60 * mega))
    query.arrive()
    val other = new PageStore(memory.join(100 * mega))
    assert(query.store.bytes > 50 * mega)
    assert(!query.ask(shardOf(1), mega, mega), "over its part by now")
    other.close()
    assert(query.ask(shardOf(1), mega, mega))
  }

  test("queries that start together never hold more than the capacity of one") {
    forAll(turns, Gen.choose(2, 5)) { (turns, count) =>
      val (size, memory) = (300 * mega, new FetchMemory)
      val queries = Vector.fill(count)(new Query(memory, size))
      turns.zipWithIndex.foreach { case ((shard, estimate, _, isOver), turn) =>
        val query = queries(turn % count)
        query.ask(shard, estimate, estimate / 2)
        if (isOver) query.arrive() else query.respond()
        assert(queries.map(_.inMemory).sum <= size)
      }
    }
  }

  test("small pages do not keep a large page out forever") {
    val store = new PageStore(new FetchMemory().join(100))
    def begins(shard: Int, bytes: Long) =
      store.reserve(shardOf(shard), bytes, 4, Instant.EPOCH)
    assert(begins(1, 10))
    val small = (1 to 1000).indexWhere { turn =>
      val isLarge = begins(0, 200)
      val other = 1 + turn % 2
      begins(other, 10)
      store.release(shardOf(3 - other))
      isLarge
    }
    assert(small > 0)
  }

  test("each query gets at least one page, for any number of queries and any capacity") {
    forAll(Gen.choose(1, 50), Gen.choose(1L, 64L)) { (count, size) =>
      val memory = new FetchMemory
      val queries = Vector.fill(count)(new Query(memory, size * mega))
      assert(queries.forall(_.ask(shardOf(0), largest, largest)))
      assert(queries.forall(_.respond() == 1))
    }
  }

  test("50 queries hold pages of the size that their shards have, several at a time") {
    val memory = new FetchMemory
    val queries = Vector.fill(50)(new Query(memory, 256 * mega))
    for (shard <- 0 to 3; query <- queries) {
      assert(query.ask(shardOf(shard), mega, mega), s"$shard")
      query.arrive()
    }
    assert(queries.map(_.store.bytes).sum === 200 * mega)
  }

  test("after a page arrived, the shards whose turn is next may have room, if they still ask") {
    val store = new PageStore(new FetchMemory().join(100))
    def begins(shard: Int) = store.reserve(shardOf(shard), 90, 4, Instant.EPOCH)
    def next(asking: Int*) = store.next(asking.map(shardOf).contains)
    assert(next(0, 1, 2) === Nil, "nobody was refused")
    Seq(2, 1, 0).foreach { shard =>
      assert(begins(shard))
      store.release(shardOf(shard))
    }
    assert(begins(3) && !begins(0) && !begins(1) && !begins(2))
    assert(next(0, 1, 2) === Seq(2, 1).map(shardOf))
    assert(next(0, 1) === Seq(1, 0).map(shardOf))
    assert(next() === Nil)
  }

  test("a shard that others wait for gets room for its only page, although the store is full") {
    val store = new PageStore(new FetchMemory().join(1000))
    def begins(isAwaited: Boolean) =
      store.reserve(shardOf(1), 700, 2, Instant.EPOCH, isAwaited)
    def add(shard: Int) = {
      val only = record(1, 100)
      val records = PackedRecords(Vector(only))
      store.add(shardOf(shard), StoredPage(Progress.TrimHorizon, records, after(only)))
      store.release(shardOf(shard))
    }
    add(0)
    assert(!begins(isAwaited = false) && begins(isAwaited = true))
    add(1)
    assert(!begins(isAwaited = true))
  }

  test("each shard that others wait for gets its page, although those of all do not fit") {
    val query = new Query(new FetchMemory, 100 * mega)
    (0 until 64).map(shardOf).foreach { shard =>
      val isIn = Seq(false, true).exists { wasRefused =>
        query.awaited(shard, wasRefused)
        query.arrive()
        query.store.shards(shard)
      }
      assert(isIn, shard)
      assert(query.inMemory <= 100 * mega + FetchMemory.SpareBytes)
    }
  }

  test("the page that is dropped for it is the newest one of the shard that is furthest ahead") {
    val store = new PageStore(new FetchMemory().join(1000))
    def page(shard: Int, from: Option[Record], seconds: Int) = {
      val only = record(from.size + 1L, 100).copy(arrivalMillis = seconds * 1000L)
      val start = from.fold[Progress](Progress.TrimHorizon)(after)
      store.add(shardOf(shard), StoredPage(start, PackedRecords(Vector(only)), after(only)))
      only
    }
    val first = page(0, None, seconds = 10)
    page(0, Some(first), seconds = 30)
    page(1, None, seconds = 20)
    val before = store.bytes
    def reserve(wasRefused: Boolean) =
      store.reserve(shardOf(2), 1001 - before, 3, Instant.EPOCH, isAwaited = true, wasRefused)
    assert(reserve(wasRefused = false) && store.bytes === before)
    store.release(shardOf(2))
    assert(reserve(wasRefused = true))
    assert(store.shards === Set(0, 1).map(shardOf) && store.bytes < before)
    val range = ShardRange(shardOf(0), Progress.TrimHorizon, after(first), None)
    assert(store.parts(range).nonEmpty, "its older page is still here")
  }

  test("shards whose pages do not fit together take turns; one that is gone holds nobody up") {
    val store = new PageStore(new FetchMemory().join(100))
    def begins(shard: Int) = store.reserve(shardOf(shard), 90, 4, Instant.EPOCH)
    def reads(shard: Int) = begins(shard) && { store.release(shardOf(shard)); true }
    assert(begins(0) && !reads(1) && !reads(2))
    store.release(shardOf(0))
    assert(!reads(0), "the others wait")
    assert(reads(1) && reads(2) && reads(0))
    assert(begins(0) && !reads(3))
    store.release(shardOf(0))
    assert(Iterator.continually(reads(0)).take(100).contains(true), "3 never asks again")
    assert(begins(0) && !reads(4))
    store.release(shardOf(0))
    store.forget(shardOf(4))
    assert(reads(0), "another executor reads 4 by now")
  }
}
