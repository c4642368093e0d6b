package sparkkinesis.model.aggregate

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.KplAggregates
import sparkkinesis.KplAggregates._
import sparkkinesis.Properties
import sparkkinesis.model.aggregate.SubRecords.read

class AggregateReaderSuite extends AnyFunSuite with Properties {
  private val one = Vector(SubRecord("k", "data".getBytes.toVector))
  private val bytes = Gen.choose(0, 200).flatMap(Gen.listOfN(_, Gen.choose(-128, 127)))

  test("the records of an aggregate are read, wherever it lies in the page") {
    forAll(subRecords, bytes, bytes) { (records, before, after) =>
      assert(read(KplAggregates(records), before, after) === records)
    }
  }

  test("an aggregate with one flipped bit is a plain record") {
    val aggregate = KplAggregates(one :+ SubRecord("other", Vector.empty, Some("7")))
    for (at <- aggregate.indices; bit <- 0 to 7) {
      val flipped = aggregate.updated(at, (aggregate(at) ^ 1 << bit).toByte)
      assert(read(flipped).isEmpty, s"byte $at bit $bit")
    }
  }

  test("an aggregate that is truncated, or has a byte too many, is a plain record") {
    val aggregate = KplAggregates(one)
    // What was cut off lies behind it still: the bytes of a page are shared.
    aggregate.indices.foreach { length =>
      val (kept, rest) = aggregate.splitAt(length)
      assert(read(kept, Nil, rest.map(_.toInt).toList).isEmpty, s"$length bytes")
    }
    assert(read(aggregate :+ 0.toByte).isEmpty)
  }

  test("data that only starts like an aggregate is a plain record") {
    (0 to 40).foreach(length => assert(read(Mark.take(length) ++ new Array[Byte](length)).isEmpty))
    forAll(bytes)(garbage => assert(read(Mark ++ garbage.map(_.toByte)).isEmpty))
  }

  test("no data makes the reader fail") {
    forAll(bytes)(any => assert(read(any.map(_.toByte).toArray).isEmpty))
    forAll(bytes)(any => read(wrapped(any.map(_.toByte).toArray)))
  }

  test("an aggregate inside an aggregate is returned as data") {
    val nested = Vector(SubRecord("outer", KplAggregates(one).toVector))
    assert(read(KplAggregates(nested)) === nested)
  }

  test("an explicit hash key is read as text, even if it is empty or no valid number") {
    val records = Vector("x", "", "1" * 50, "-1").map(key => SubRecord("", Vector.empty, Some(key)))
    assert(read(KplAggregates(records)) === records)
  }

  private val key = bytesField(1, "k".getBytes)
  private val index = numberField(1, 0)
  private val data = bytesField(3, Array(1))

  private def record(parts: Array[Byte]*) = bytesField(3, joined(parts))

  test("an aggregate of 10 MiB is read, with one record, very many records or very many keys") {
    val large = new Array[Byte](10 << 20)
    large(large.length - 1) = 7
    val reader = new AggregateReader
    val page = wrapped(key ++ record(index, bytesField(3, large)))
    assert(reader.open(page, 0, page.length) === 1)
    reader.next()
    assert(reader.dataLength === large.length)
    assert(page(reader.dataBegin + reader.dataLength - 1) === 7)
    val empty = record(index, bytesField(3, Array.emptyByteArray))
    assert(count(key ++ repeated(empty, 1700000)) === 1700000)
    assert(count(repeated(bytesField(1, Array.emptyByteArray), 5200000) ++ empty) === 1)
  }

  test("a key of more than 256 characters makes a plain record, as a record that expands too far") {
    val keys = Seq("k" * 256, "\u00e9" * 256, "\ud83d\ude00" * 256)
    keys.foreach { key =>
      assert(read(KplAggregates(Vector(SubRecord(key, Vector(1))))).nonEmpty)
      assert(read(KplAggregates(Vector(SubRecord(key + "k", Vector(1))))).isEmpty)
      assert(read(KplAggregates(Vector(SubRecord("k", Vector(1), Some(key + "1"))))).isEmpty)
    }
    val empty = record(index, bytesField(3, Array.emptyByteArray))
    assert(count(bytesField(1, keys.head.getBytes) ++ repeated(empty, 100000)) === 100000)
    assert(count(bytesField(1, keys.last.getBytes) ++ repeated(empty, 100000)) === 0)
    // A long key that few records share expands little.
    val second = record(numberField(1, 1), bytesField(3, Array.emptyByteArray))
    val table = key ++ bytesField(1, keys.last.getBytes)
    assert(count(table ++ repeated(empty, 100000) ++ second) === 100001)
  }

  private def count(message: Array[Byte]) = {
    val page = wrapped(message)
    new AggregateReader().open(page, 0, page.length)
  }

  private def repeated(field: Array[Byte], times: Int) =
    Array.tabulate(field.length * times)(i => field(i % field.length))

  test("a reader that is used again has nothing of the previous aggregate") {
    val reader = new SubRecords
    val other = Vector(SubRecord("other", Vector(9), Some("7")), SubRecord("k", Vector(8)))
    assert(reader.read(KplAggregates(other)) === other)
    assert(reader.read(wrapped(record(index, data))).isEmpty)
    assert(reader.read(KplAggregates(one)) === one)
    assert(reader.read("plain".getBytes).isEmpty)
  }
}
