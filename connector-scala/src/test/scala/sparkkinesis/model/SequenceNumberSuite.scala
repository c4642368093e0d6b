package sparkkinesis.model

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.Generators.sequenceNumber

class SequenceNumberSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  test("sequence numbers are compared as integers, whatever their leading zeros and lengths") {
    forAll(sequenceNumber, sequenceNumber) { (a, b) =>
      assert(math.signum(a.compare(b)) === BigInt(a.text).compare(BigInt(b.text)))
      assert(math.signum(a.compare(b)) === -math.signum(b.compare(a)))
    }
  }

  test(
    "sequence numbers are equal exactly if they compare as zero, and then have equal hash codes"
  ) {
    val zeros = Gen.choose(0, 3).map("0" * _)
    forAll(sequenceNumber.suchThat(_.text.length < 100), zeros, sequenceNumber) { (a, pad, b) =>
      val padded = SequenceNumber(pad + a.text)
      assert(padded === a && padded.hashCode === a.hashCode)
      assert((a == b) === (a.compare(b) == 0))
    }
  }

  test("a sequence number is printed exactly as received, with leading zeros") {
    forAll(sequenceNumber) { number =>
      assert(number.toString === number.text)
      assert(SequenceNumber.parse(number.text).map(_.text) === Some(number.text))
    }
  }

  test("a text that is not 1 to 128 decimal digits is no sequence number") {
    forAll(Table("text", "", " 1", "-1", "1.0", "1e3", "٣", "LATEST", "1" * 129)) { text =>
      assert(SequenceNumber.parse(text) === None)
      assertThrows[IllegalArgumentException](SequenceNumber(text))
    }
    assert(SequenceNumber.parse("1" * 128).isDefined)
  }
}
