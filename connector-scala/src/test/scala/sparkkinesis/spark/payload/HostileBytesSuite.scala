package sparkkinesis.spark.payload

import java.nio.charset.StandardCharsets.UTF_8

import org.scalacheck.{Arbitrary, Gen}
import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Properties

/** Whoever may write to a stream chooses the bytes. */
class HostileBytesSuite extends AnyFunSuite with Properties {
  import HostileBytesSuite._

  test("all bytes give a value within its bound or a reason, and never an error") {
    forAll(hostile, Gen.choose(1, 5000), minSuccessful(2000))(check)
  }
}

object HostileBytesSuite {

  /** Throws if bytes give more than a value within its bound, or a reason. */
  def check(bytes: Array[Byte], limit: Int): Unit = {
    assert(Inflate(bytes, limit).forall(_.length <= limit))
    assert(Json.split(bytes).size <= bytes.length / 2 + 1)
    Json.ofDynamoDb(new String(bytes, UTF_8)): Unit
    schemas.foreach(it => Avro.problem(bytes, it, it): Unit)
  }

  private val schemas = Seq(
    AvroSuite.Writer,
    """{"type":"array","items":{"type":"array","items":"null"}}""",
    """{"type":"map","values":["null","bytes",{"type":"fixed","name":"F","size":3}]}""",
    """{"type":"bytes","logicalType":"decimal","precision":9,"scale":1}""",
    """{"type":"record","name":"Node","fields":[{"name":"next","type":["null","Node"]}]}"""
  )

  private val anyBytes = Gen.containerOf[Array, Byte](
    Gen.oneOf(Arbitrary.arbitrary[Byte], Gen.oneOf(Seq[Byte](0, 1, 2, 3, -1, 127, -128)))
  )

  private val compressed = for {
    write <- Gen.oneOf(InflateSuite.Formats.values.toSeq)
    content <- Gen.oneOf(anyBytes, Gen.choose(0, 20000).map(new Array[Byte](_)))
  } yield write(content)

  private val changes = Gen.oneOf(
    """{"eventName":"INSERT","dynamodb":{"NewImage":{"a":{"N":"1E5"},"b":{"L":[{"S":"x"}]}}}}""",
    """{"dynamodb":{"Keys":{"a":{"M":{"b":{"NS":["1"]}}}}}} {"a":1.5e3}"""
  )

  /** Data that a producer may write. */
  val valid: Gen[Array[Byte]] =
    Gen.oneOf(compressed, AvroSuite.order, changes.map(_.getBytes(UTF_8)), anyBytes)

  private val mutation: Gen[Array[Byte] => Array[Byte]] = for {
    from <- Gen.choose(0.0, 1.0)
    to <- Gen.oneOf(Gen.const(from), Gen.choose(0.0, 1.0))
    inserted <- Gen.oneOf(anyBytes, valid)
    times <- Gen.frequency(8 -> Gen.choose(0, 2), 1 -> Gen.const(100))
  } yield (bytes: Array[Byte]) => {
    val (start, end) = ((bytes.length * from).toInt, (bytes.length * to).toInt)
    bytes.take(start) ++ Array.fill(times)(inserted).flatten ++ bytes.drop(end)
  }

  private val hostile: Gen[Array[Byte]] = for {
    bytes <- valid
    mutations <- Gen.choose(0, 3).flatMap(Gen.listOfN(_, mutation))
  } yield mutations.foldLeft(bytes)((it, mutate) => mutate(it).take(1 << 16))
}
