package sparkkinesis.source.store

import java.time.Instant

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.Generators._
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{PackedRecords, StreamShard}
import sparkkinesis.shard.{FetchMemory, ShardRange}

class PageStoreSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val shard = shardOf(0)
  private val now = Instant.EPOCH

  private def filled(pages: Seq[StoredPage], capacity: Long = Long.MaxValue): PageStore = {
    val store = new PageStore(new FetchMemory().join(capacity))
    pages.foreach(store.add(shard, _))
    store
  }

  /** Pages, two places in them where a batch may start and end, and the records in between. */
  private val cuts = for {
    pages <- pages
    records = pages.flatMap(Stores.recordsOf)
    begin <- Gen.choose(0, records.size)
    end <- Gen.choose(begin, records.size)
  } yield (pages, begin, end)

  private def place(pages: Vector[StoredPage], index: Int): Progress =
    if (index == 0) Progress.TrimHorizon else after(pages.flatMap(Stores.recordsOf)(index - 1))

  test("the records of a range are the slice between its ends, for any page boundaries") {
    forAll(cuts) { case (pages, begin, end) =>
      val all = pages.flatMap(Stores.recordsOf)
      val range = ShardRange(shard, place(pages, begin), place(pages, end))
      assert(Stores.records(filled(pages), range) === Some(all.slice(begin, end)))
      if (pages.last.upTo == Progress.Finished) {
        val toTheEnd =
          Stores.records(filled(pages), range.copy(upTo = Progress.Finished))
        assert(toTheEnd === Some(all.drop(begin)))
      }
    }
  }

  test("a range that is not buffered in full returns nothing, never a part") {
    forAll(pages) { pages =>
      val last = pages.last.upTo
      val open = pages.filter(_.upTo != Progress.Finished)
      val beyond = ShardRange(shard, Progress.TrimHorizon, after(record(999, 1)))
      assert(filled(pages).parts(beyond).isEmpty)
      val before = filled(pages.drop(1)).parts(ShardRange(shard, Progress.TrimHorizon, last))
      assert(before.isEmpty)
      val toTheEnd = ShardRange(shard, Progress.TrimHorizon, Progress.Finished)
      assert(filled(open).parts(toTheEnd).isEmpty)
      val elsewhere = ShardRange(shardOf(1), Progress.TrimHorizon, last)
      assert(filled(pages).parts(elsewhere).isEmpty)
    }
  }

  test("reading removes nothing: a retried task finds the same records") {
    forAll(cuts) { case (pages, begin, end) =>
      val store = filled(pages)
      val range = ShardRange(shard, place(pages, begin), place(pages, end))
      val first = Stores.records(store, range)
      assert(Stores.records(store, range) === first)
    }
  }

  test("dropUpTo drops the pages that are done, and no later page") {
    forAll(cuts) { case (pages, begin, end) =>
      val store = filled(pages)
      store.dropUpTo(shard, place(pages, begin))
      val rest = ShardRange(shard, place(pages, begin), place(pages, end))
      val all = pages.flatMap(Stores.recordsOf)
      if (end > begin)
        assert(Stores.records(store, rest) === Some(all.slice(begin, end)))
      val ends = pages.map(Stores.recordsOf(_).size).scanLeft(0)(_ + _).drop(1)
      val needed = pages.zip(ends).collect {
        case (page, last) if last > begin || page.upTo == Progress.Finished => page
      }
      assert(store.bytes === needed.map(_.bytes).sum)
    }
  }

  test("no page of a finished shard stays, even if its last pages were never buffered") {
    forAll(pages, Gen.choose(1, 5)) { (pages, count) =>
      val store = filled(pages.take(count))
      store.dropUpTo(shard, Progress.Finished)
      assert(store.bytes === 0 && store.shards.isEmpty)
    }
  }

  test("dropAfter keeps earlier pages, and accepts pages that continue them") {
    forAll(pages, Gen.choose(0, 5)) { (pages, count) =>
      val kept = pages.take(count)
      val store = filled(pages)
      store.dropAfter(shard, kept.lastOption.fold(pages.head.from)(_.upTo))
      assert(store.bytes === kept.map(_.bytes).sum)
      pages.drop(count).foreach(store.add(shard, _))
      val whole = Stores.records(store, ShardRange(shard, pages.head.from, pages.last.upTo))
      assert(whole === Some(pages.flatMap(Stores.recordsOf)))
    }
  }

  test("the byte count is zero after all pages are dropped in any way") {
    forAll(pages) { pages =>
      val drops = Seq[PageStore => Unit](
        _.drop(shard),
        _.dropUpTo(shard, pages.last.upTo),
        _.dropAfter(shard, pages.head.from)
      )
      drops.foreach { drop =>
        val store = filled(pages)
        assert(store.bytes > 0 && store.shards === Set(shard))
        drop(store)
        assert(store.bytes === 0 && store.shards.isEmpty)
      }
    }
  }

  test("a gap drops the pages before it") {
    forAll(pages) { pages =>
      val store = filled(pages)
      val far = StoredPage(
        after(record(500, 1)),
        PackedRecords(Vector(record(501, 7))),
        after(record(501, 7))
      )
      store.add(shard, far)
      assert(store.bytes === far.bytes)
    }
  }

  private def pageOf(bytes: Int, from: Progress = Progress.TrimHorizon, marks: Double = 1) =
    StoredPage(
      from,
      PackedRecords(Vector(record(1, bytes - overhead))),
      after(record(1, 0)),
      marks
    )

  private lazy val overhead = {
    val empty = PackedRecords(Vector(record(1, 0)))
    StoredPage(Progress.TrimHorizon, empty, Progress.Finished).bytes.toInt
  }

  test("a shard has room up to half of the capacity, then up to its share, then none") {
    val store = new PageStore(new FetchMemory().join(8000))
    def reserves(shard: Int, estimate: Long) = store.reserve(shardOf(shard), estimate, 4, now)
    store.add(shardOf(0), pageOf(3000))
    assert(!reserves(0, 1001), "beyond half, and more than its fourth")
    assert(reserves(0, 1000), "half, whoever asks")
    assert(!reserves(0, 1), "another's share")
    assert(reserves(1, 4000), "whoever has nothing is let in")
    assert(!reserves(2, 1), "full")
    store.release(shardOf(1))
    store.add(shardOf(1), pageOf(1000))
    assert(reserves(1, 1000) && !reserves(1, 1001), "to a fourth")
  }

  test("an empty store accepts a page of any size, and then no other page") {
    val store = new PageStore(new FetchMemory().join(100))
    assert(store.reserve(shard, 5000, 2, now))
    assert(!store.reserve(shardOf(1), 1, 2, now))
    store.release(shard)
    store.add(shard, pageOf(4000))
    assert(!store.reserve(shardOf(1), 1, 2, now))
    store.drop(shard)
    assert(store.reserve(shardOf(1), 5000, 2, now))
  }

  test("a call that hangs holds room only for a few seconds") {
    val store = new PageStore(new FetchMemory().join(1000))
    assert((0 to 4).forall(shard => store.reserve(shardOf(shard), 200, 6, now)))
    assert(!store.reserve(shardOf(5), 200, 6, now.plusSeconds(2)))
    assert(store.reserve(shardOf(5), 200, 6, now.plusSeconds(4)))
  }

  /**
   * A reservation: its shard, its bytes, the bytes of the page that arrives, and whether it stays.
   */
  private val turns = Gen.listOf(
    for {
      shard <- Gen.choose(0, 4)
      estimate <- Gen.choose(700, 9000)
      bytes <- Gen.choose(700, estimate)
      isOver <- Gen.oneOf(true, false)
    } yield (shardOf(shard), estimate, bytes, isOver)
  )

  test(
    "buffered plus reserved bytes never exceed the capacity, except for a first page"
  ) {
    forAll(turns, Gen.choose(3000L, 50000L)) { (turns, capacity) =>
      val store = new PageStore(new FetchMemory().join(capacity))
      var pending = Vector.empty[(StreamShard, Int, Int)]
      def settle(): Unit = {
        pending.foreach { case (id, _, bytes) =>
          store.add(id, pageOf(bytes, from = after(record(1, 0))))
          store.release(id)
        }
        pending = Vector.empty
      }
      turns.foreach { case (id, estimate, bytes, isOver) =>
        val before = store.bytes + pending.map(_._2).sum
        if (!pending.exists(_._1 == id) && store.reserve(id, estimate.toLong, 5, now)) {
          assert(before == 0 || before + estimate <= capacity)
          pending :+= ((id, estimate, bytes))
        }
        if (isOver) settle()
      }
      settle()
      store.clear()
      assert(store.bytes === 0)
      val any = (0 to 4).map(shardOf).find(store.reserve(_, capacity * 2, 5, now))
      assert(any.nonEmpty, "an empty store accepts any page")
    }
  }

  test("pages count their marks and the objects around their records, until they are dropped") {
    val few = pageOf(1000)
    assert(few.bytes - Stores.recordsOf(few).bytes >= 600)
    val store = filled(Seq(pageOf(1000, marks = 3), pageOf(1000, few.upTo, marks = 2)))
    assert(store.marks(shard) === 5 && store.bytes === 2000)
    store.dropAfter(shard, few.upTo)
    assert(store.marks(shard) === 3)
    store.drop(shard)
    assert(store.marks(shard) === 0)
  }
}
