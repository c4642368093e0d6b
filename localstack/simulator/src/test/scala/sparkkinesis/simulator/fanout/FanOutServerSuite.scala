package sparkkinesis.simulator.fanout

import java.io.IOException
import java.net.http.{HttpClient, HttpRequest, HttpResponse}
import java.util.concurrent.atomic.AtomicInteger

import scala.annotation.tailrec
import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import org.scalatest.BeforeAndAfterEach
import org.scalatest.funsuite.AnyFunSuite
import software.amazon.awssdk.http.Protocol
import software.amazon.eventstream.MessageDecoder

import sparkkinesis.client.SystemClock
import sparkkinesis.model._
import sparkkinesis.simulator.KinesisServer
import sparkkinesis.simulator.fault.{Fault, Faults}
import sparkkinesis.simulator.sdk.{SdkFanOut, SdkSubscription, Signal}
import sparkkinesis.simulator.service.SimulatedKinesis
import sparkkinesis.simulator.state.ShardState

/** Subscriptions over connections: HTTP/2 in both ways, slow readers, faults, and what is left. */
final class FanOutServerSuite extends AnyFunSuite with BeforeAndAfterEach {
  @volatile private var fault: Option[Fault] = None
  private val asked = new AtomicInteger

  private val faults: Faults = {
    case _: NextEvent =>
      asked.incrementAndGet()
      fault
    case _ => None
  }
  private var server: KinesisServer = _
  private val stream = StreamRef.ByName(StreamName("s"))

  override protected def beforeEach(): Unit = {
    fault = None
    asked.set(0)
    server = KinesisServer.start(kinesis = new SimulatedKinesis(SystemClock, faults = faults))
  }

  override protected def afterEach(): Unit = server.close()

  private def kinesis: SimulatedKinesis = server.kinesis

  private def withClient[A](protocol: Protocol)(use: SdkFanOut => A): A = {
    val client = new SdkFanOut(server.endpoint, protocol)
    try use(client)
    finally client.close()
  }

  private def shards(count: Int): Seq[ShardId] = {
    kinesis.createStream(stream.name, count)
    (0 until count).map(ShardState.id)
  }

  private def put(data: String): Unit = {
    kinesis.putRecord(stream.name, PutEntry("k", data.getBytes, None))
    ()
  }

  private def consumer(name: String = "one"): ConsumerArn =
    kinesis.fanOut.register(stream, name).arn

  @tailrec private def eventually(what: String, attempts: Int = 500)(condition: => Boolean): Unit =
    if (!condition) {
      assert(attempts > 0, s"Waited too long for $what.")
      SystemClock.sleep(20.millis)
      eventually(what, attempts - 1)(condition)
    }

  /** Heartbeats are passed over. */
  @tailrec private def next(of: SdkSubscription, attempts: Int = 500): Signal = of.next() match {
    case Signal.Quiet if attempts > 0 => next(of, attempts - 1)
    case Signal.Event(event) if event.records.isEmpty && attempts > 0 => next(of, attempts - 1)
    case signal => signal
  }

  private val protocols = Seq(Protocol.HTTP1_1, Protocol.HTTP2)

  test("a connection that starts with HTTP/1.1 is upgraded to HTTP/2 in clear text") {
    shards(1)
    val client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).build()
    def call(target: String, body: String): HttpResponse[String] =
      client.send(request(target, body), HttpResponse.BodyHandlers.ofString())
    (1 to 3).foreach { _ =>
      val answer = call("ListStreams", "{}")
      assert(answer.version == HttpClient.Version.HTTP_2 && answer.statusCode == 200)
      assert(answer.body.contains("\"StreamNames\":[\"s\"]"))
    }
    val big = "A" * 400000 // more than the windows HTTP/2 begins with
    val put = call("PutRecord", s"""{"StreamName":"s","PartitionKey":"k","Data":"$big"}""")
    assert(put.version == HttpClient.Version.HTTP_2 && put.statusCode == 200)
    val refused = call("PutRecord", "{")
    assert(refused.statusCode == 400 && refused.body.contains("SerializationException"))
  }

  test("a client of HTTP/1.1 is served, request after request on one connection") {
    shards(1)
    val client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()
    val request = HttpRequest.newBuilder(server.endpoint.resolve("/_simulator/health")).build()
    (1 to 3).foreach { _ =>
      val answer = client.send(request, HttpResponse.BodyHandlers.ofString())
      assert(answer.version == HttpClient.Version.HTTP_1_1 && answer.statusCode == 200)
    }
  }

  protocols.foreach { protocol =>
    test(s"a slow reader makes the server wait, and loses no record ($protocol)") {
      val shard = shards(1).head
      val blob = new Array[Byte](1024 * 1024 - 1)
      val count = 60
      (1 to count).foreach(_ => kinesis.putRecord(stream.name, PutEntry("k", blob, None)))
      withClient(protocol) { client =>
        val it = client.subscribe(consumer(), shard, Position.TrimHorizon)
        assert(next(it).isInstanceOf[Signal.Event])
        var seen = -1
        var steady = 0
        eventually("the server to pause") {
          steady = if (asked.get == seen) steady + 1 else 0
          seen = asked.get
          steady >= 10
        }
        assert(seen < count / 2, "The server did not wait.")
        val numbers = (2 to count).map { i =>
          next(it) match {
            case Signal.Event(event) => event.records.map(_.sequenceNumber)
            case other => fail(s"$other in place of event $i")
          }
        }
        assert(numbers.forall(_.size == 1) && numbers.flatten.distinct.size == count - 1)
        assert(asked.get == count)
        it.close()
      }
    }

    test(s"subscriptions of clients that have gone leave nothing behind ($protocol)") {
      val all = shards(20)
      val name = consumer()
      withClient(protocol) { client =>
        val open = all.map(client.subscribe(name, _, Position.TrimHorizon))
        eventually("all to be open")(kinesis.watchers.size == 20)
        open.head.next() // its demand is the connection's own reading
        open.head.close()
        eventually("one to be gone")(kinesis.watchers.size == 19)
      }
      eventually("all to be gone")(kinesis.watchers.size == 0)
    }
  }

  Seq(HttpClient.Version.HTTP_1_1, HttpClient.Version.HTTP_2).foreach { version =>
    test(s"faults drop a subscription, truncate an event, or arrive as an exception ($version)") {
      shards(1)
      put("a")
      Seq(Fault.SubscriptionDropped, Fault.EventTruncated).foreach { kind =>
        val (types, isBroken) = messages(version, kind)
        // Java's client drops what it has not given out when a stream of HTTP/2 is reset.
        assert(isBroken && types.forall(_ == "initial-response"))
        assert(types.nonEmpty || version == HttpClient.Version.HTTP_2)
      }
      val failed = (Seq("initial-response", "InternalFailureException"), false)
      assert(messages(version, Fault.ServiceFailure) == failed)
      eventually("all to be gone")(kinesis.watchers.size == 0)
    }
  }

  /** The types of a faulty subscription's messages, and whether the connection broke then. */
  private def messages(version: HttpClient.Version, kind: Fault): (Seq[String], Boolean) = {
    fault = Some(kind)
    val start = """{"Type":"TRIM_HORIZON"}"""
    val body = s"""{"ConsumerARN":"${consumer(s"c-$kind")}","ShardId":"${ShardState.id(0)}",""" +
      s""""StartingPosition":$start}"""
    val client = HttpClient.newBuilder().version(version).build()
    val answer = client.send(
      request("SubscribeToShard", body),
      HttpResponse.BodyHandlers.ofInputStream()
    )
    assert(answer.version == version && answer.statusCode == 200)
    val types = Vector.newBuilder[String]
    val decoder = new MessageDecoder({ message =>
      val headers = message.getHeaders.asScala
      types += headers.getOrElse(":event-type", headers(":exception-type")).getString
      ()
    })
    def isBroken: Boolean =
      try {
        Iterator
          .continually(answer.body.read())
          .takeWhile(_ >= 0)
          .foreach(byte => decoder.feed(Array(byte.toByte)))
        false
      } catch { case _: IOException => true }
    val broken = isBroken
    (types.result(), broken)
  }

  private def request(target: String, body: String): HttpRequest = HttpRequest
    .newBuilder(server.endpoint)
    .header("X-Amz-Target", s"Kinesis_20131202.$target")
    .header("Content-Type", "application/x-amz-json-1.1")
    .POST(HttpRequest.BodyPublishers.ofString(body))
    .build()

  test("hundreds of subscriptions share a connection, and each one gets its own records") {
    val all = shards(300)
    val name = consumer()
    withClient(Protocol.HTTP2) { client =>
      val open = all.map(shard => shard -> client.subscribe(name, shard, Position.TrimHorizon))
      HashKeyRange.even(300).zip(all).foreach { case (range, shard) =>
        kinesis.putRecord(
          stream.name,
          PutEntry("k", shard.name.getBytes, Some(range.first))
        )
      }
      open.foreach { case (shard, it) =>
        next(it) match {
          case Signal.Event(event) =>
            assert(event.records.map(r => new String(r.data)) == Seq(shard.name))
          case other => fail(s"$shard: $other")
        }
      }
      open.foreach(_._2.close())
      eventually("all to be gone")(kinesis.watchers.size == 0)
      assert(client.list(name.stream, None, 10).consumers.size == 1)
    }
  }
}
