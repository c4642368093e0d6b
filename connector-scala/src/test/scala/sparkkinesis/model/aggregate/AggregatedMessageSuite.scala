package sparkkinesis.model.aggregate

import java.nio.charset.StandardCharsets.UTF_8

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

import sparkkinesis.KplAggregates
import sparkkinesis.KplAggregates._
import sparkkinesis.Properties
import sparkkinesis.model.aggregate.SubRecords.read

/** How [[AggregateReader]] reads a message with a correct MD5. */
class AggregatedMessageSuite extends AnyFunSuite with Properties {

  /** A field that no reader of aggregates knows, of any kind, groups in groups among them. */
  private def unknownField(depth: Int): Gen[Array[Byte]] = for {
    number <- Gen.oneOf(Gen.choose(5, 20), Gen.choose(1 << 20, (1 << 29) - 1))
    value <- Gen.choose(Long.MinValue, Long.MaxValue)
    kind <- Gen.choose(0, if (depth > 0) 4 else 3)
    inner <- Gen.choose(0, if (kind == 4) 3 else 0).flatMap { count =>
      Gen.listOfN(count, Gen.lzy(unknownField(depth - 1)))
    }
  } yield kind match {
    case 0 => numberField(number, value)
    case 1 => bytesField(number, value.toString.getBytes)
    case 2 => varint(number.toLong << 3 | 1) ++ new Array[Byte](8)
    case 3 => varint(number.toLong << 3 | 5) ++ new Array[Byte](4)
    case _ =>
      varint(number.toLong << 3 | 3) ++ joined(inner) ++ varint(number.toLong << 3 | 4)
  }

  private val tag: Gen[Array[Byte]] = Gen
    .zip(Gen.alphaStr, Gen.alphaStr)
    .map { case (key, value) =>
      bytesField(4, bytesField(1, key.getBytes) ++ bytesField(2, value.getBytes))
    }

  private def among(fields: Seq[Array[Byte]], others: Gen[Array[Byte]]): Gen[Array[Byte]] =
    Gen.sequence[Vector[Array[Byte]], Array[Byte]](
      fields.map(field => Gen.frequency(2 -> field, 1 -> others.map(_ ++ field)))
    ) flatMap (all => Gen.option(others).map(last => joined(all ++ last)))

  /**
   * Another encoding of the same message: records before keys, fields in any order, unknown fields.
   */
  private def otherwise(records: Vector[SubRecord]): Gen[Array[Byte]] = {
    val (keys, hashKeys) = tables(records)
    val texts = hashKeys.map(2 -> _) ++ keys.map(1 -> _)
    for {
      bodies <- Gen.sequence[Vector[Array[Byte]], Array[Byte]](parts(records).map(body))
      fields = bodies.map(bytesField(3, _)) ++
        texts.map { case (table, key) => bytesField(table, key.getBytes(UTF_8)) }
      message <- among(fields, unknownField(3))
    } yield message
  }

  /** Each field perhaps twice, with another value before: the last holds. */
  private def body(fields: Seq[Array[Byte]]): Gen[Array[Byte]] = {
    val before = fields.map { field =>
      if (field.head == 0x1a) bytesField(3, Array(1)) else numberField(field.head >> 3, -1)
    }
    among(fields.reverse, Gen.oneOf(tag, unknownField(2)))
      .flatMap(all => Gen.oneOf(all, joined(before) ++ all))
  }

  test("two protobuf encodings of one message are read the same") {
    forAll(subRecords.flatMap(records => otherwise(records).map(records -> _))) {
      case (records, message) => assert(read(wrapped(message)) === records)
    }
  }

  private val key = bytesField(1, "k".getBytes)
  private val hashKey = bytesField(2, "7".getBytes)
  private val index = numberField(1, 0)
  private val data = bytesField(3, Array(1))

  private def record(parts: Array[Byte]*) = bytesField(3, joined(parts))

  private val good = key ++ record(index, data)

  private val malformed = TableDrivenPropertyChecks.Table(
    "what is wrong" -> "message",
    "no sub-record" -> key,
    "nothing at all" -> Array.emptyByteArray,
    "an index beyond the table" -> (key ++ record(numberField(1, 1), data)),
    "an index beyond 32 bits" -> (key ++ record(numberField(1, 1L << 32), data)),
    "an index beyond 31 bits" -> (key ++ record(numberField(1, 1L << 31), data)),
    "an index of 64 ones" -> (key ++ record(numberField(1, -1), data)),
    "an index and no table" -> record(index, data),
    "one bad index among good ones" -> (good ++ record(numberField(1, 1), data) ++ record(
      index,
      data
    )),
    "a hash key's index and no table" -> (key ++ record(index, numberField(2, 0), data)),
    "a hash key's index beyond" -> (key ++ hashKey ++ record(index, numberField(2, 1), data)),
    "a hash key's index of 64 ones" -> (key ++ hashKey ++ record(index, numberField(2, -1), data)),
    "no partition key" -> (key ++ record(data)),
    "no data" -> (key ++ record(index)),
    "data that are a number" -> (key ++ record(index, numberField(3, 1))),
    "an index that is text" -> (key ++ record(bytesField(1, Array(0)), data)),
    "a key that is not UTF-8" -> (bytesField(1, Array(-1)) ++ record(index, data)),
    "half of a character" -> (bytesField(1, "ж".getBytes.take(1)) ++ record(index, data)),
    "a hash key that is not UTF-8" -> (good ++ bytesField(2, Array(-1))),
    "a length beyond the message" -> (good ++ Array[Byte](0x1a, 100)),
    "a length beyond the record" -> (key ++ record(index, Array[Byte](0x1a, 2, 1)) ++ good),
    "a length beyond 32 bits" -> (good ++ varint(0x1a) ++ varint((1L << 32) + 1) :+ 1.toByte),
    "a negative length" -> (good ++ varint(0x1a) ++ varint(-1)),
    "a field's number 0" -> (good ++ numberField(0, 1)),
    "a tag beyond 32 bits" -> (good ++ varint(1L << 32 | 40) ++ varint(1)),
    "a number that does not end" -> (good ++ Array[Byte](0x28, -1)),
    "a number of eleven bytes" -> (good ++ varint(0x28) ++ Array.fill[Byte](10)(-1) :+ 1.toByte),
    "eight bytes cut short" -> (good ++ varint(5 << 3 | 1) ++ new Array[Byte](7)),
    "four bytes cut short" -> (good ++ varint(5 << 3 | 5) ++ new Array[Byte](3)),
    "a group without its end" -> (good ++ varint(5 << 3 | 3)),
    "a group with another's end" -> (good ++ varint(5 << 3 | 3) ++ varint(6 << 3 | 4)),
    "an end without its group" -> (good ++ varint(5 << 3 | 4)),
    "kind 6" -> (good ++ varint(5 << 3 | 6)),
    "kind 7" -> (good ++ varint(5 << 3 | 7)),
    "a hundred thousand groups" ->
      (good ++ Array.fill[Byte](100000)(0x2b) ++ Array.fill[Byte](100000)(0x2c))
  )

  test("an invalid message with a correct MD5 is a plain record") {
    assert(read(wrapped(good)) === Vector(SubRecord("k", Vector(1))))
    forAll(malformed)((_, message) => assert(read(wrapped(message)).isEmpty))
  }

  private def spoilt(message: Array[Byte]): Gen[Array[Byte]] = for {
    at <- Gen.choose(0, message.length)
    byte <- Gen.frequency(3 -> Gen.choose(0, 0x2f), 1 -> Gen.choose(-128, 127))
    removed <- Gen.oneOf(0, 1, 1, 2)
    spoilt = message.patch(at, Seq(byte.toByte), removed)
    more <- Gen.frequency(3 -> spoilt, 1 -> Gen.lzy(this.spoilt(spoilt)))
  } yield more

  private def spoiltOf(records: Seq[SubRecord]) = spoilt(KplAggregates.message(records))

  test("a corrupted message is read exactly as Google's protobuf reader reads it") {
    val ascii = Gen.choose(1, 3).flatMap { count =>
      val record = Gen.zip(Gen.oneOf("a", "b"), Gen.alphaNumStr, Gen.option(Gen.oneOf("0", "1")))
      Gen.listOfN(
        count,
        record.map { case (key, data, hashKey) =>
          SubRecord(key, data.take(5).getBytes.toVector, hashKey)
        }
      )
    }
    var accepted = 0
    forAll(ascii.flatMap(spoiltOf), minSuccessful(20000)) { message =>
      whenever(!AggregateTarget.hasLongNumbers(message)) {
        val expected = ProtobufOracle.read(message)
        assert(read(wrapped(message)) === expected)
        if (expected.nonEmpty) accepted += 1
      }
    }
    assert(accepted > 1000) // both kinds are plenty
  }
}
