package sparkkinesis.model

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.Generators._

class PackedRecordsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val anyRecord: Gen[Record] = for {
    number <- sequenceNumber
    key <- Gen.option(Gen.oneOf(partitionKey, Gen.const("")))
    data <- Gen.choose(0, 40).flatMap(Gen.listOfN(_, Gen.choose(Byte.MinValue, Byte.MaxValue)))
    arrival <- instant
    encryption <- Gen.oneOf(None, Some("NONE"), Some("KMS"))
  } yield Record(number, key, data.toArray, arrival.toEpochMilli, encryption)

  private val records: Gen[Vector[Record]] =
    Gen.choose(0, 12).flatMap(Gen.listOfN(_, anyRecord)).map(_.toVector)

  test("what is packed comes out again, at every place, as often as it is asked for") {
    forAll(records) { records =>
      val packed = PackedRecords(records)
      assert(packed === records && records === packed)
      records.indices.foreach { index =>
        assert(packed(index) === records(index) && packed(index) === packed(index))
        assert(packed.sequenceNumber(index).text === records(index).sequenceNumber.text)
      }
    }
  }

  test("a slice is a slice, of a slice too, and shares the arrays") {
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

  test("what is packed already is not packed again") {
    val packed = PackedRecords(Vector(record(1, 3)))
    assert(PackedRecords(packed) eq packed)
  }

  test("a record's data is its own: who writes to it changes no other reading") {
    val packed = PackedRecords(Vector(record(1, 3), record(2, 3)))
    packed(0).data(0) = 7
    assert(packed(0).data.toSeq === Seq[Byte](0, 0, 0))
  }

  test("its bytes: the data and texts in UTF-8, and a fixed part for each record") {
    assert(PackedRecords(Vector.empty).bytes === 0)
    val fixed = PackedRecords(Vector(record(1, 0).copy(partitionKey = None))).bytes - 1
    val two = Vector(
      record(12, 100).copy(partitionKey = Some("ключ")),
      record(345, 0).copy(partitionKey = None)
    )
    assert(PackedRecords(two).bytes === 100 + 8 + 2 + 3 + 2 * fixed)
  }
}
