package sparkkinesis.model

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.Generators._

class PackedRecordsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val records: Gen[Vector[Record]] =
    Gen.choose(0, 12).flatMap(Gen.listOfN(_, anyRecord)).map(_.toVector)

  test("packed records are read back unchanged, at every index, any number of times") {
    forAll(records) { records =>
      val packed = PackedRecords(records)
      assert(packed === records && records === packed)
      records.indices.foreach { index =>
        assert(packed(index) === records(index) && packed(index) === packed(index))
        assert(packed.sequenceNumber(index).text === records(index).sequenceNumber.text)
      }
    }
  }

  test("a slice, also of a slice, has the records of its range and shares the arrays") {
    val bound = Gen.choose(-2, 14)
    forAll(records, bound, bound, bound) { (records, from, until, count) =>
      val (slice, plain) = (PackedRecords(records).slice(from, until), records.slice(from, until))
      assert(slice === plain && slice.take(count) === plain.take(count))
      assert(slice.countWhile(_ < count) === math.max(0, math.min(count, plain.size)))
      plain.indices.foreach { i =>
        assert(slice.sequenceNumber(i) === plain(i).sequenceNumber)
        assert(slice.arrivalMillis(i) === plain(i).arrivalMillis)
        assert(slice.dataLength(i) === plain(i).data.length)
      }
      intercept[IndexOutOfBoundsException](slice(plain.size))
    }
  }

  test("records that are packed already are not packed again") {
    val packed = PackedRecords(Vector(record(1, 3)))
    assert(PackedRecords(packed) eq packed)
  }

  test("changing the data of a record that was read does not change later reads") {
    val packed = PackedRecords(Vector(record(1, 3), record(2, 3)))
    packed(0).data(0) = 7
    assert(packed(0).data.toSeq === Seq[Byte](0, 0, 0))
  }

  test("the size counts data and texts in UTF-8, and a fixed part per record") {
    assert(PackedRecords(Vector.empty).bytes === 0)
    val fixed = PackedRecords(Vector(record(1, 0).copy(partitionKey = None))).bytes - 1
    val two = Vector(
      record(12, 100).copy(partitionKey = Some("ключ")),
      record(345, 0).copy(partitionKey = None)
    )
    assert(PackedRecords(two).bytes === 100 + 8 + 2 + 3 + 2 * fixed)
  }

  test("sequence numbers compare in place like objects, with and without leading zeros") {
    val digits = for {
      zeros <- Gen.choose(0, 2)
      value <- Gen.oneOf(Gen.choose(0L, 12L), Gen.choose(0L, Long.MaxValue))
    } yield SequenceNumber("0" * zeros + value.toString)
    forAll(Gen.listOfN(5, digits), digits) { (numbers, other) =>
      val packed = PackedRecords(numbers.map(record(1, 1).copy(_)).toVector)
      numbers.indices.foreach { index =>
        assert(packed.compareNumber(index, other).sign === numbers(index).compare(other).sign)
      }
    }
  }
}
