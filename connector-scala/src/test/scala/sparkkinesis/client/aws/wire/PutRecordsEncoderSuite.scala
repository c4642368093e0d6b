package sparkkinesis.client.aws.wire

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.dataformat.cbor.CBORFactory
import org.scalacheck.{Gen, Shrink}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks
import software.amazon.awssdk.services.kinesis.model.PutRecordsRequest

import sparkkinesis.Generators
import sparkkinesis.client.aws.{AwsConversions, CannedHttp}
import sparkkinesis.model.{HashKey, PutEntry, StreamName, StreamRef}

/** The encoder and the SDK encode the same request. */
class PutRecordsEncoderSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private implicit def noShrink[A]: Shrink[A] = Shrink.shrinkAny

  private val orders = StreamRef.ByName(StreamName("orders"))
  private val http = new CannedHttp
  private lazy val sdk = http.client()

  private val anyKey: Gen[String] = Gen.oneOf(
    Generators.partitionKey,
    Gen.choose(1, 256).map("k" * _),
    Gen.asciiPrintableStr.map(_.take(256)),
    Gen.choose(1, 256).flatMap(Gen.listOfN(_, Gen.choose('\u0000', '\ud7ff'))).map(_.mkString)
  )

  /** About where the length of a length changes, above all. */
  private val anySize: Gen[Int] =
    Gen.oneOf(Gen.oneOf(0, 1, 23, 24, 255, 256, 65535, 65536), Gen.choose(0, 2000))

  private val anyEntry: Gen[PutEntry] = for {
    key <- anyKey
    size <- anySize
    first <- Gen.choose(Byte.MinValue, Byte.MaxValue)
    hashKey <- Gen.option(Generators.hashKey)
  } yield PutEntry(key, Array.tabulate(size)(i => (first + i).toByte), hashKey)

  private val anyStream: Gen[StreamRef] = Gen.oneOf(orders, Generators.stream)

  test("a request has the same meaning as the SDK's, and its members in the same order") {
    forAll(anyStream, Gen.choose(1, 20).flatMap(Gen.listOfN(_, anyEntry)))(check)
  }

  test("requests with 500 records or a record of 10 MiB have the same meaning as the SDK's") {
    check(orders, Seq.tabulate(500)(n => PutEntry(s"k$n", Array.fill(n)(n.toByte), None)))
    check(orders, Seq(PutEntry("k", Array.fill(10 << 20)(7), Some(HashKey.Max))))
  }

  test("a request with short texts equals the SDK's byte for byte") {
    val entries = Seq(
      PutEntry("k", Array[Byte](1, 2, 3), None),
      PutEntry("ключ", Array.fill(300)(4), Some(HashKey.Min)),
      PutEntry("🔑", Array.emptyByteArray, None)
    )
    assert(encoded(orders, entries) === bySdk(orders, entries))
  }

  test("half of a surrogate pair, which UTF-8 cannot express, is written as Java does") {
    val read = tree(encoded(orders, Seq(PutEntry("k\ud83d", Array[Byte](1), None))))
    assert(read.get("Records").get(0).get("PartitionKey").asText === "k?")
  }

  test("more than a request may hold is left to the SDK") {
    val data = new Array[Byte](20 << 20)
    val tooMuch = Seq.fill(4)(PutEntry("k", data, None))
    assert(PutRecordsEncoder.encode(orders, tooMuch).isEmpty)
    assert(PutRecordsEncoder.encode(orders, tooMuch.take(3)).nonEmpty)
  }

  private def check(stream: StreamRef, entries: Seq[PutEntry]): Unit = {
    val (ours, sdks) = (encoded(stream, entries), bySdk(stream, entries))
    assert(ours.length <= sdks.length)
    val read = tree(ours)
    assert(read === tree(sdks))
    assert(names(read) === names(tree(sdks)))
    val first = read.get("Records").get(0)
    assert(names(first) === names(tree(sdks).get("Records").get(0)))
    assert(first.get("Data").binaryValue === entries.head.data)
    assert(first.get("PartitionKey").asText === entries.head.partitionKey)
    ()
  }

  private val mapper = new ObjectMapper(new CBORFactory)

  /** Parses all bytes: nothing may follow the tree. */
  private def tree(bytes: Array[Byte]): JsonNode = {
    val parser = mapper.createParser(bytes)
    val read = mapper.readTree[JsonNode](parser)
    assert(parser.nextToken() === null)
    read
  }

  private def names(node: JsonNode): Seq[String] = node.fieldNames.asScala.toSeq

  private def encoded(stream: StreamRef, entries: Seq[PutEntry]): Array[Byte] =
    PutRecordsEncoder
      .encode(stream, entries)
      .getOrElse(fail("was left to the SDK"))
      .toByteArray

  private def bySdk(stream: StreamRef, entries: Seq[PutEntry]): Array[Byte] = {
    val request =
      PutRecordsRequest.builder().records(entries.map(AwsConversions.requestEntry).asJava)
    stream match {
      case StreamRef.ByName(name) => request.streamName(name.name)
      case StreamRef.ByArn(arn) => request.streamARN(arn.toString)
    }
    sdk.putRecords(request.build())
    http.sent
  }
}
