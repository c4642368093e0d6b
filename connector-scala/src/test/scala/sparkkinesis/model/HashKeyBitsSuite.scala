package sparkkinesis.model

import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.Generators.{hashKey, partitionKey}

class HashKeyBitsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val hash = new PartitionKeyHasher

  private def number(hi: Long, lo: Long): BigInt = {
    def unsigned(bits: Long) = BigInt(java.lang.Long.toUnsignedString(bits))
    (unsigned(hi) << 64) + unsigned(lo)
  }

  private def agrees(partitionKey: String) = {
    hash.hash(partitionKey)
    assert(number(hash.hi, hash.lo) === HashKey.of(partitionKey).value)
  }

  test("the two longs hold the bits of the number") {
    forAll(hashKey)(key => assert(number(HashKeyBits.hi(key), HashKeyBits.lo(key)) === key.value))
  }

  test("the bits of a partition key equal HashKey.of, for one key after another") {
    forAll(partitionKey)(agrees)
    forAll(Table("text", "", "ж", "\ud83d\udd11", "half \ud83d", "a" * 1000))(agrees)
  }

  test("hash keys are compared as unsigned numbers") {
    def compare(a: HashKey, b: HashKey) = HashKeyBits
      .compare(HashKeyBits.hi(a), HashKeyBits.lo(a), HashKeyBits.hi(b), HashKeyBits.lo(b))
      .sign
    val edges = Seq(0, 63, 64, 127).map(BigInt(1) << _).flatMap(n => Seq(n - 1, n, n + 1))
    for (a <- edges; b <- edges)
      assert(compare(HashKey(a), HashKey(b)) === a.compare(b).sign, s"$a and $b")
    forAll(hashKey, hashKey)((a, b) => assert(compare(a, b) === a.compare(b).sign))
  }
}
