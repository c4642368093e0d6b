package sparkkinesis.client.aws.wire

import org.scalacheck.{Gen, Shrink}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.client.{Page, ShardIterator}
import sparkkinesis.model._

/** The decoder and the SDK decode the same page. */
class GetRecordsDecoderLawSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import CborPages._

  private implicit val noShrink: Shrink[Array[Byte]] = Shrink.shrinkAny

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 20000)

  /** A page of few bytes, so that any of them is often the one that is garbled. */
  private val small: Gen[Array[Byte]] = for {
    key <- Gen.oneOf(None, Some("k"), Some("ключ"))
    encryption <- Gen.oneOf(None, Some("NONE"), Some("KMS"))
    arrival <- Gen.oneOf(0L, 5L, 1700000000123L)
    next <- Gen.oneOf(None, Some(ShardIterator("n")))
    isSized <- Gen.oneOf(true, false)
    hasMore <- Gen.oneOf(true, false)
    count <- Gen.choose(0, 2)
    children <- Gen.choose(0, 1).flatMap(Gen.listOfN(_, child))
    record = Record(SequenceNumber("12"), key, Array[Byte](1, 2), arrival, encryption)
  } yield encoded(Page(Vector.fill(count)(record), next, 7, children), isSized, hasMore)

  private val child: Gen[ChildShard] = Gen
    .oneOf(Nil, Seq(ShardId("a")))
    .map(ChildShard(ShardId("b"), _, HashKeyRange(HashKey(0), HashKey(9))))

  private val garbled: Gen[Array[Byte]] = for {
    bytes <- small
    at <- Gen.choose(0, bytes.length - 1)
    by <- Gen.choose(1, 3).flatMap(Gen.listOfN(_, anyByte))
    replaced <- Gen.choose(0, 3)
  } yield bytes.patch(at, by, replaced)

  test("a corrupted response that the decoder accepts is read as the SDK reads it") {
    forAll(garbled)(GetRecordsTarget.fuzzerTestOneInput)
  }
}
