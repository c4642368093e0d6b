package sparkkinesis.client.aws.wire

import java.net.{InetAddress, InetSocketAddress, URI}

import scala.collection.mutable

import com.fasterxml.jackson.core.JsonGenerator
import com.sun.net.httpserver.{HttpExchange, HttpServer}
import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client._
import sparkkinesis.client.aws.AwsClientFactory
import sparkkinesis.model.{PackedRecords, Record, SequenceNumber, StreamName, StreamRef}

class ResponseDecoderSuite extends AnyFunSuite {
  private val Cbor = "application/x-amz-cbor-1.1"
  private val Json = "application/x-amz-json-1.1"

  private def cbor(write: JsonGenerator => Unit): Array[Byte] = CborPages.written { out =>
    out.writeStartObject()
    write(out)
    out.writeEndObject()
  }

  private def oneRecord(out: JsonGenerator): Unit = {
    out.writeArrayFieldStart("Records")
    out.writeStartObject()
    out.writeStringField("SequenceNumber", "12")
    out.writeBinaryField("Data", Array[Byte](1, 2, 3))
    out.writeStringField("PartitionKey", "k")
    out.writeEndObject()
    out.writeEndArray()
    out.writeNumberField("MillisBehindLatest", 7)
  }

  /** Calls a server that sends this response. */
  private def getRecords(answer: HttpExchange => Unit): Page = {
    val server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress, 0), 5)
    server.createContext(
      "/",
      exchange =>
        try {
          exchange.getRequestBody.readAllBytes()
          answer(exchange)
        } finally exchange.close()
    )
    server.start()
    try {
      val endpoint = URI.create(s"http://127.0.0.1:${server.getAddress.getPort}")
      val keys = CredentialsConfig(CredentialsSource.Static("ID", "hush", None), None)
      val client = AwsClientFactory.create(ClientConfig("eu-west-1", Some(endpoint), keys))
      try client.getRecords(StreamRef.ByName(StreamName("orders")), ShardIterator("at"), 100)
      finally client.close()
    } finally server.stop(0)
  }

  private def answers(status: Int, contentType: String, body: Array[Byte], length: Option[Int])(
      exchange: HttpExchange
  ): Unit = {
    exchange.getResponseHeaders.set("Content-Type", contentType)
    exchange.sendResponseHeaders(status, length.getOrElse(body.length).toLong)
    exchange.getResponseBody.write(body)
  }

  private def check(page: Page, isPacked: Boolean): Unit = {
    assert(page.records.isInstanceOf[PackedRecords] === isPacked)
    val record =
      Record(SequenceNumber("12"), Some("k"), Array[Byte](1, 2, 3), arrivalMillis = 0, None)
    assert(page.records.toSeq === Seq(record) && page.millisBehindLatest === Some(7))
  }

  test("a CBOR response is decoded in place, with a known length or in chunks") {
    Seq(None, Some(0)).foreach { length => // 0 tells the server to send chunks
      check(getRecords(answers(200, Cbor, cbor(oneRecord), length)), isPacked = true)
    }
  }

  test(
    "a response is read only after there is room for it, and a call that waits can be interrupted"
  ) {
    val body = cbor(oneRecord)
    def readIn(room: ResponseRoom) =
      ResponseRoom.limiting(room)(getRecords(answers(200, Cbor, body, None)))
    val asked = mutable.Buffer.empty[Long]
    check(readIn { bytes => asked += bytes; true }, isPacked = true)
    assert(asked === Seq(body.length))
    val e = intercept[KinesisException](readIn(_ => false))
    assert(e.getMessage.contains(s"no memory for a response of ${body.length} bytes"))
    intercept[InterruptedException](readIn(_ => throw new InterruptedException))
    Thread.interrupted(): Unit
  }

  test("a response without the content type of CBOR is left to the SDK") {
    check(getRecords(answers(200, Json, cbor(oneRecord), None)), isPacked = false)
  }

  test("the last page of a shard names its children") {
    val last = cbor { out =>
      oneRecord(out)
      out.writeArrayFieldStart("ChildShards")
      out.writeStartObject()
      out.writeStringField("ShardId", "shardId-1")
      out.writeArrayFieldStart("ParentShards")
      out.writeString("shardId-0")
      out.writeEndArray()
      out.writeObjectFieldStart("HashKeyRange")
      out.writeStringField("StartingHashKey", "0")
      out.writeStringField("EndingHashKey", "9")
      out.writeEndObject()
      out.writeEndObject()
      out.writeEndArray()
    }
    val page = getRecords(answers(200, Cbor, last, None))
    check(page, isPacked = true)
    assert(page.next.isEmpty && page.children.map(_.id.name) === Seq("shardId-1"))
  }

  test("an error response is left to the SDK") {
    val refusal = cbor { out =>
      out.writeStringField("__type", "ExpiredIteratorException")
      out.writeStringField("message", "too old")
    }
    val e = intercept[KinesisException.IteratorExpired] {
      getRecords(answers(400, Cbor, refusal, None))
    }
    assert(e.getMessage.contains("too old"))
  }

  test("a truncated response is a broken connection, not a short page") {
    intercept[KinesisException.Unreachable] {
      getRecords(answers(200, Cbor, cbor(oneRecord), Some(5000)))
    }
  }
}
