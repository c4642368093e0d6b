package sparkkinesis.model

import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.Generators.{hashKey, partitionKey}

class HashKeySuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val known = Table(
    ("partition key", "MD5"), // RFC 1321, appendix A.5; an unsigned number also above 2^127
    ("a", "0cc175b9c0f1b6a831c399e269772661"),
    ("abc", "900150983cd24fb0d6963f7d28e17f72"),
    ("message digest", "f96b697d7cb7938d525a2f31aaf161d0")
  )

  test("the hash key of a partition key is its MD5 as a whole number") {
    forAll(known)((key, md5) => assert(HashKey.of(key).value === BigInt(md5, 16)))
  }

  test("equal partition keys have equal hash keys, inside the key space") {
    forAll(partitionKey) { key =>
      assert(HashKey.of(key) === HashKey.of(key))
      assert(HashKeyRange.All.contains(HashKey.of(key)))
    }
  }

  test("a hash key that is written in decimal is parsed back") {
    forAll(hashKey)(key => assert(HashKey.parse(key.toString) === Some(key)))
  }

  test("a number outside 0 to 2^128 - 1 is no hash key") {
    val above = (HashKey.Max.value + 1).toString
    forAll(Table("text", "", "-1", "+1", "01", "1.0", "0x1", "٣", above, "9" * 39)) { text =>
      assert(HashKey.parse(text) === None)
    }
    assertThrows[IllegalArgumentException](HashKey(HashKey.Max.value + 1))
    assertThrows[IllegalArgumentException](HashKey(-1))
  }
}
