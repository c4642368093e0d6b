package sparkkinesis.sink.once

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

/** Many hashes in one array: sorted in place, and found again. */
class SortedHashesSuite extends AnyFunSuite {
  private val random = new Random(7)

  /** Some hashes are there several times, and some differ in the last bits only. */
  private def hashes(count: Int): Vector[Hash128] = Vector.fill(count) {
    val hi = if (random.nextInt(3) == 0) Long.MinValue else random.nextLong()
    Hash128(hi, if (random.nextInt(3) == 0) random.nextInt(3) - 1L else random.nextLong())
  }

  private def sorted(all: Seq[Hash128]) =
    SortedHashes.of(all.grouped(7).map(Hash128.encode).toVector)

  test("every hash is kept, and equal hashes are side by side") {
    Seq(0, 1, 2, 3, 1000).foreach { count =>
      val all = hashes(count)
      val table = new SortedHashes(sorted(all))
      assert(table.size === count)
      assert((0 until count).map(table.at).groupBy(identity) === all.groupBy(identity))
      all.distinct.foreach { hash =>
        val first = table.firstOf(hash)
        assert(table.at(first) === hash && (first == 0 || table.at(first - 1) != hash))
        assert(table.countEqual(first) === all.count(_ == hash))
      }
      assert(table.firstOf(Hash128(5, 5)) < 0)
    }
  }

  test("more hashes than an array can hold are refused by name, and with a remedy") {
    val part = new Array[Byte](1 << 20)
    val e = intercept[OnceException](SortedHashes.of(Iterable.fill(1 << 11)(part)))
    assert(e.condition === OnceException.ReadBackFailed && e.getMessage.contains("'writeId'"))
  }

  test("rows are taken as often as they are there") {
    val all = hashes(500)
    val found = new FoundRows(sorted(all))
    random.shuffle(all).foreach(hash => assert(found.take(hash)))
    assert(found.remaining === 0 && found.missing === 0 && found.surplus === 0)
    all.foreach(hash => assert(!found.take(hash)))
  }

  test("copies of a row of the task are surplus, and rows that the task lacks are missing") {
    val (a, b) = (Hash128(1, 1), Hash128(2, 2))
    val found = new FoundRows(sorted(Seq(a, b, a, b, a)))
    assert(found.missing === 5)
    assert(found.take(a))
    assert(found.remaining === 4 && found.surplus === 2 && found.missing === 2)
    found.markSeen(b)
    assert(found.surplus === 4 && found.missing === 0)
  }
}
