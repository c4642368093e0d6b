package sparkkinesis.client.aws.wire

import java.nio.charset.StandardCharsets.UTF_8

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.dataformat.cbor.CBORFactory
import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client.PutResult
import sparkkinesis.client.aws.{AwsKinesisClient, CannedHttp}
import sparkkinesis.model.{PutEntry, SequenceNumber, ShardId, StreamName, StreamRef}

class RequestBodyOverrideSuite extends AnyFunSuite {
  private val orders = StreamRef.ByName(StreamName("orders"))
  private val mapper = new ObjectMapper(new CBORFactory)

  private def withClient[A](body: (AwsKinesisClient, CannedHttp) => A): A = {
    val http = new CannedHttp
    val client =
      new AwsKinesisClient(http.client(ResponseDecoder, RequestBodyOverride), "nowhere", () => ())
    try body(client, http)
    finally client.close()
  }

  private val written = PutResult.Written(ShardId("shardId-000000000001"), SequenceNumber("12"))
  private val one = CborResults.encoded(Seq(written), isSized = false, hasMore = false)

  test("the SDK sends our body with its own length, and signs it") {
    withClient { (client, http) =>
      http.answer = one
      val entries = Seq(PutEntry("k", Array.fill(3000)(1), None))
      val results = client.putRecords(orders, entries)
      assert(results === Seq(written) && !results.isInstanceOf[PutResult.Fallback])
      assert(http.sent === PutRecordsEncoder.encode(orders, entries).get.toByteArray)
      def header(name: String) = http.headers.matchingHeaders(name)
      assert(header("Content-Length").size === 1)
      assert(header("Content-Length").get(0) === http.sent.length.toString)
      assert(header("Content-Type").get(0) === "application/x-amz-cbor-1.1")
      assert(header("X-Amz-Target").get(0) === "Kinesis_20131202.PutRecords")
      assert(header("Authorization").get(0).startsWith("AWS4-HMAC-SHA256"))
    }
  }

  test("another body has another signature") {
    def signature(data: Byte): String = withClient { (client, http) =>
      http.answer = one
      client.putRecords(orders, Seq(PutEntry("k", Array(data), None)))
      http.headers.matchingHeaders("x-amz-content-sha256").get(0)
    }
    assert(signature(1) !== signature(2))
  }

  test("other requests keep the SDK's body") {
    withClient { (client, http) =>
      http.answer = Array(0xa0.toByte)
      intercept[Exception](client.describeStream(orders))
      assert(mapper.readTree(http.sent).get("StreamName").asText === "orders")
    }
  }

  test("with CBOR switched off, all requests keep the SDK's body") {
    System.setProperty("aws.cborEnabled", "false")
    try
      withClient { (client, http) =>
        http.answer = "{}".getBytes(UTF_8)
        client.putRecords(orders, Seq(PutEntry("k", Array[Byte](1), None)))
        val sent = new ObjectMapper().readTree(http.sent)
        assert(sent.get("Records").get(0).get("PartitionKey").asText === "k")
      }
    finally System.clearProperty("aws.cborEnabled")
  }

  test("if the SDK's request is in another format, the SDK encodes it, and the answer says so") {
    System.setProperty("aws.cborEnabled", "false")
    val http = new CannedHttp
    val sdk =
      try http.client(ResponseDecoder, RequestBodyOverride)
      finally System.clearProperty("aws.cborEnabled")
    val client = new AwsKinesisClient(sdk, "nowhere", () => ())
    http.answer =
      """{"Records": [{"ShardId": "shardId-000000000001", "SequenceNumber": "12"}]}""".getBytes(
        UTF_8
      )
    (1 to 2).foreach { _ =>
      val results = client.putRecords(orders, Seq(PutEntry("k", Array[Byte](1), None)))
      assert(results === Seq(written) && results.isInstanceOf[PutResult.Fallback])
      assert(http.headers.firstMatchingHeader("Content-Type").get === "application/x-amz-json-1.1")
      assert(new ObjectMapper().readTree(http.sent).get("Records").size === 1)
    }
  }
}
