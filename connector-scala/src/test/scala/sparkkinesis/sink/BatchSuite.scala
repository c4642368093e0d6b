package sparkkinesis.sink

import java.nio.charset.StandardCharsets.UTF_8
import java.time.Instant

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.model.PutEntry

class BatchSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val start = Instant.EPOCH

  private def entry(bytes: Int, key: String = "k") = PutEntry(key, new Array[Byte](bytes), None)

  private val entries =
    Gen.listOf(for {
      bytes <- Gen.choose(0, 60)
      key <- Gen.oneOf("k", "ключ", "🔑")
    } yield entry(bytes, key))

  /** Cut as the writer cuts. */
  private def batches(entries: List[PutEntry], limits: RequestLimits): List[Batch] =
    entries.foldLeft(List.empty[Batch]) {
      case (last :: done, next) =>
        last.add(next, limits).fold(Batch.of(next, start) :: last :: done)(_ :: done)
      case (Nil, next) => List(Batch.of(next, start))
    }

  test("no batch breaks a limit, and each was cut only where the next record did not fit") {
    forAll(entries, Gen.choose(1, 9), Gen.choose(70, 300)) { (all, count, bytes) =>
      val limits = RequestLimits(count, bytes.toLong)
      val cut = batches(all, limits).reverse
      assert(cut.flatMap(_.entries) === all)
      cut.foreach { batch =>
        assert(batch.bytes === batch.entries.map(EntrySize.of).sum)
        assert(batch.entries.size <= count && batch.bytes <= bytes)
      }
      cut.zip(cut.drop(1)).foreach { case (batch, next) =>
        val more = batch.bytes + EntrySize.of(next.entries.head)
        assert(batch.entries.size == count || more > bytes)
      }
    }
  }

  test("a limit is met exactly, and one byte more does not fit") {
    val limits = RequestLimits(500, 100)
    val batch = Batch.of(entry(49), start) // and one byte of key
    assert(batch.add(entry(49), limits).exists(_.isFull(limits)))
    assert(batch.add(entry(50), limits) === None)
    assert(batch.add(entry(48, "é"), limits).map(_.bytes) === Some(100L))
    assert(batch.add(entry(49, "é"), limits) === None)
  }

  test("500 records fit, 501 do not") {
    val limits = RequestLimits.Default
    val full = (2 to 500).foldLeft(Batch.of(entry(0), start))((b, _) => b.add(entry(0), limits).get)
    assert(full.entries.size === 500 && full.isFull(limits))
    assert(full.add(entry(0), limits) === None)
  }

  test("a record larger than a request stands alone") {
    val limits = RequestLimits(500, 10)
    assert(Batch.of(entry(50), start).entries.size === 1)
    assert(Batch.of(entry(1), start).add(entry(50), limits) === None)
  }

  test("a selection keeps order, sizes and age") {
    val batch = Batch(Vector(entry(1), entry(2), entry(3)), 9, start)
    val odd = batch.select(_ != 1)
    assert(odd.entries.map(_.data.length) === Vector(1, 3))
    assert(odd.bytes === 6)
    assert(odd.since === start)
  }

  test("the length in UTF-8 is that of the encoding") {
    val texts = Gen.stringOf(
      Gen.frequency(
        3 -> Gen.choose(Char.MinValue, Char.MaxValue),
        1 -> Gen.oneOf('\ud83d', '\udd11', 'a', 'é')
      )
    )
    forAll(texts) { text =>
      assert(EntrySize.utf8Length(text) === text.getBytes(UTF_8).length)
    }
  }
}
