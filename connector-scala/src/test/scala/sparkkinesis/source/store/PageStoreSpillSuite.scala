package sparkkinesis.source.store

import java.time.Instant

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.Generators._
import sparkkinesis.model.PackedRecords
import sparkkinesis.model.offset.Progress
import sparkkinesis.shard.{FetchMemory, ShardRange}

/** Pages beyond the memory part are on disk, and a task finds no difference. */
class PageStoreSpillSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val shard = shardOf(0)
  private val kilo = 8 * 1024 // so that no page is small
  private val now = Instant.EPOCH

  /** Pages of a shard, one record of 80 KB each. All have the same size. */
  private def pages(count: Int): Vector[StoredPage] = Vector.tabulate(count) { index =>
    val only = record(1000L + index, 10 * kilo)
    StoredPage(place(index), PackedRecords(Vector(only)), place(index + 1))
  }

  /** Before the record with that index. */
  private def place(index: Int): Progress =
    if (index == 0) Progress.TrimHorizon else after(record(999L + index, 0))

  private def store(
      spill: SpillSpace,
      memory: Long,
      disk: Long = Long.MaxValue / 2,
      isOpen: Boolean = true
  ) = {
    val stored = new PageStore(new FetchMemory().join(memory), disk, spill)
    if (isOpen) Stores.openDisk(stored)
    stored
  }

  /**
   * Whether one of so many shards is admitted to read its page with that index, `at` milliseconds.
   */
  private def reads(stored: PageStore, shards: Int, index: Int, at: Int): Boolean = {
    val isAdmitted = stored.reserve(shard, 10 * kilo, shards, now.plusMillis(at.toLong))
    stored.release(shard)
    if (isAdmitted) stored.add(shard, pages(index + 1)(index))
    isAdmitted
  }

  private def range(from: Int, upTo: Int) = ShardRange(shard, place(from), place(upTo))

  private val places = for {
    count <- Gen.choose(1, 40)
    begin <- Gen.choose(0, count - 1)
    end <- Gen.choose(begin + 1, count)
    memory <- Gen.choose(0, count * 10 * kilo)
  } yield (count, begin, end, memory.toLong)

  test(
    "the records of a range are the same wherever its pages are, and as often as they are " +
      "read"
  ) {
    forAll(places) { case (count, begin, end, memory) =>
      val spill = new FakeSpill
      val stored = store(spill, memory)
      pages(count).foreach(stored.add(shard, _))
      val wanted = pages(count).slice(begin, end).flatMap(Stores.recordsOf)
      assert(Stores.records(stored, range(begin, end)) === Some(wanted))
      assert(Stores.records(stored, range(begin, end)) === Some(wanted))
      assert(spill.size > 0 || stored.bytes <= memory)
    }
  }

  test("each page is in one place, and in none after it was dropped") {
    forAll(places) { case (count, begin, end, memory) =>
      val spill = new FakeSpill
      val stored = store(spill, memory)
      val all = pages(count)
      all.foreach(stored.add(shard, _))
      val moved = spill.size
      assert(stored.bytes === (count - moved) * all.head.bytes + moved * StoredPage.EntryBytes)
      assert(stored.spilledBytes === moved * all.head.bytes)
      stored.dropAfter(shard, place(end))
      if (begin > 0) stored.dropUpTo(shard, place(begin))
      assert(stored.parts(range(begin, end)).exists(_.size === end - begin))
      stored.clear()
      assert((stored.bytes, stored.spilledBytes, spill.size) === ((0L, 0L, 0)))
    }
  }

  test(
    "memory stays within its part, or a page more, while pages go to disk, until the disk is " +
      "full, too"
  ) {
    val spill = new FakeSpill
    val stored = store(spill, memory = 600 * kilo, disk = 1000 * kilo)
    val all = pages(200)
    val count = all.indexWhere { page =>
      val hasRoom = stored.reserve(shard, page.bytes, 1, now)
      if (hasRoom) {
        stored.add(shard, page)
        stored.release(shard)
        assert(stored.bytes <= 600 * kilo + page.bytes && !stored.isFull)
      }
      !hasRoom
    }
    assert(count > 130 && stored.isFull)
    assert(stored.spilledBytes <= 1000 * kilo && stored.spilledBytes > 900 * kilo)
    stored.dropUpTo(shard, all.head.upTo)
    assert(!stored.isFull)
  }

  test("one shard beside others fills half of memory and disk together, then its share") {
    val stored = store(new FakeSpill, memory = 200 * kilo, disk = 800 * kilo)
    pages(44).foreach(stored.add(shard, _))
    assert(stored.reserve(shard, 10 * kilo, 4, now))
    stored.release(shard)
    assert(!stored.reserve(shard, 60 * kilo, 4, now) && stored.isFull)
    assert(stored.reserve(shardOf(1), 60 * kilo, 4, now))
  }

  test("pages in flight fit in the memory beside the others, wherever they go later") {
    val stored = store(new FakeSpill, memory = 100 * kilo)
    pages(20).foreach(stored.add(shard, _))
    assert(stored.reserve(shardOf(1), 20 * kilo, 100, now), "one is always possible")
    assert(!stored.reserve(shardOf(2), 20 * kilo, 100, now) && !stored.isFull)
    stored.release(shardOf(1))
    assert(stored.reserve(shardOf(2), 20 * kilo, 100, now))
  }

  test("pages go to disk only after memory was full for a while") {
    val stored = store(new FakeSpill, memory = 80 * kilo, isOpen = false)
    def reads(index: Int, at: Int) = this.reads(stored, shards = 1, index, at)
    assert((0 to 5).forall(reads(_, at = 0)))
    assert(!reads(6, at = 499) && stored.spilledBytes == 0 && stored.isFull)
    assert((6 to 12).forall(reads(_, at = 2000)) && stored.spilledBytes > 0 && !stored.isFull)
    stored.clear()
    assert((0 to 12).forall(reads(_, at = 10000)), "batches are long, so the disk stays open")
    stored.clear()
    assert((0 to 5).forall(reads(_, at = 10100)))
    assert(!reads(6, at = 10100), "the last batch was short")
  }

  test("a few of many shards with a backlog open the disk, too") {
    val stored = store(new FakeSpill, memory = 200 * kilo, isOpen = false)
    def reads(index: Int, at: Int) = this.reads(stored, shards = 40, index, at)
    val first = (0 until 40).takeWhile(reads(_, at = 0)).size
    assert(first < 10, "the others' part of the memory stays free")
    assert(!reads(first, at = 2000), "this is when the disk opens")
    assert((first until 40).forall(reads(_, at = 501)) && stored.spilledBytes > 0)
  }

  test("without a disk part, memory is used up to its end") {
    val stored = store(new FakeSpill, memory = 100 * kilo, disk = 0, isOpen = false)
    assert(stored.reserve(shardOf(1), 95 * kilo, 1, now), "an empty store has room")
    stored.release(shardOf(1))
    pages(8).foreach(stored.add(shard, _))
    assert(stored.reserve(shard, 10 * kilo, 1, now))
  }

  test("several stores share the disk evenly") {
    val memory = new FetchMemory
    def next() = new PageStore(memory.join(10 * kilo), 1000 * kilo, new FakeSpill)
    val (one, other) = (next(), next())
    Stores.openDisk(one)
    pages(200).foreach(one.add(shard, _))
    assert(one.spilledBytes <= 500 * kilo && one.spilledBytes > 480 * kilo)
    other.close()
    one.clear()
    pages(200).foreach(one.add(shard, _))
    assert(one.spilledBytes > 980 * kilo)
  }

  test("a page that cannot be written stays in memory, and the next ones wait in Kinesis") {
    val spill = new FakeSpill(() => true)
    val stored = store(spill, memory = 100 * kilo)
    pages(20).foreach(stored.add(shard, _))
    assert(stored.spilledBytes === 0 && spill.size === 0)
    assert(Stores.records(stored, range(0, 20)).exists(_.size === 20))
    stored.clear()
    assert(stored.bytes === 0)
    val closed = store(SpillSpace.Off, memory = 100 * kilo)
    assert(closed.reserve(shard, 100 * kilo, 2, now) && !closed.reserve(shardOf(1), 1, 2, now))
  }

  test("a page that cannot be read is missing from its part only, which says what to read again") {
    val spill = new FakeSpill
    val stored = store(spill, memory = 50 * kilo)
    pages(10).foreach(stored.add(shard, _))
    val onDisk = spill.size
    assert(onDisk > 0 && onDisk < 10)
    spill.lose()
    val parts = stored.parts(range(2, 10)).get
    assert(
      parts.map(_.range.copy(completeAsOf = None, first = None)) === (2 until 10).map(n =>
        range(n, n + 1)
      )
    )
    assert(parts.map(_.records.nonEmpty) === Seq.fill(8 - onDisk)(true) ++ Seq.fill(onDisk)(false))
  }

  test("a page that is dropped while it is written is removed from the disk") {
    lazy val stored: PageStore = store(dropping, memory = 0)
    lazy val dropping: FakeSpill = new FakeSpill(() => { stored.drop(shard); false })
    pages(1).foreach(stored.add(shard, _))
    assert((stored.bytes, stored.spilledBytes, dropping.size) === ((0L, 0L, 0)))
  }

  test("a page that a file would not make smaller stays in memory") {
    val spill = new FakeSpill
    val stored = store(spill, memory = 0)
    val small =
      StoredPage(Progress.TrimHorizon, PackedRecords(Vector(record(1, 1000))), Progress.Finished)
    stored.add(shard, small)
    assert(spill.size === 0 && stored.bytes === small.bytes)
  }

  test(
    "small pages go to disk together, so that memory stays free, and a task finds each of them"
  ) {
    val (spill, shards, rounds) = (new FakeSpill, 64, 800)
    val stored = store(spill, memory = 8L << 20)
    for (round <- 0 until rounds; shard <- 0 until shards) {
      assert(stored.reserve(shardOf(shard), 64 * 1024, shards, now), s"after $round rounds")
      stored.add(shardOf(shard), small(round))
      stored.release(shardOf(shard))
    }
    assert(stored.spilledBytes > (24 << 20) && spill.size < shards * rounds / 10)
    for ((from, upTo) <- Seq(0 -> rounds, 1 -> 2, 77 -> 777, 100 -> 101)) {
      val records = (from until upTo).flatMap(index => Stores.recordsOf(small(index)))
      assert(Stores.records(stored, range(from, upTo)) === Some(records))
      stored.dropUpTo(shard, place(from))
      assert(Stores.records(stored, range(from, upTo)) === Some(records), "another attempt")
    }
    stored.clear()
    assert((stored.bytes, stored.spilledBytes, spill.size) === ((0L, 0L, 0)))
  }

  test("small pages that could not be written together stay in memory") {
    val spill = new FakeSpill(() => true)
    val stored = store(spill, memory = 10 * kilo)
    (0 until 200).foreach(index => stored.add(shard, small(index)))
    assert(stored.spilledBytes === 0 && stored.bytes === (0 until 200).map(small(_).bytes).sum)
    assert(Stores.records(stored, range(0, 200)).exists(_.size === 200))
  }

  private def small(index: Int) = {
    val only = record(1000L + index, 100)
    StoredPage(place(index), PackedRecords(Vector(only)), place(index + 1))
  }
}
