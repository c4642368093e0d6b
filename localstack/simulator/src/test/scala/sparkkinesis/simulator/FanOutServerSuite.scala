package sparkkinesis.simulator

import java.net.http.{HttpClient, HttpRequest, HttpResponse}
import java.util.concurrent.atomic.AtomicInteger

import scala.annotation.tailrec
import scala.concurrent.duration._

import org.scalatest.BeforeAndAfterEach
import org.scalatest.funsuite.AnyFunSuite
import software.amazon.awssdk.http.Protocol

import sparkkinesis.client.SystemClock
import sparkkinesis.model._

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

  @tailrec private def next(of: SdkSubscription, attempts: Int = 500): Signal = of.next() match {
    case Signal.Quiet if attempts > 0 => next(of, attempts - 1)
    case signal => signal
  }

  private val protocols = Seq(Protocol.HTTP1_1, Protocol.HTTP2)

  test("a connection that begins as HTTP/1.1 is upgraded to HTTP/2 in clear text") {
    shards(1)
    val client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).build()
    def call(target: String, body: String): HttpResponse[String] = client.send(
      HttpRequest
        .newBuilder(server.endpoint)
        .header("X-Amz-Target", s"Kinesis_20131202.$target")
        .header("Content-Type", "application/x-amz-json-1.1")
        .POST(HttpRequest.BodyPublishers.ofString(body))
        .build(),
      HttpResponse.BodyHandlers.ofString()
    )
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

  test("whoever asks for HTTP/1.1 gets it, request after request on one connection") {
    shards(1)
    val client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()
    val request = HttpRequest.newBuilder(server.endpoint.resolve("/_simulator/health")).build()
    (1 to 3).foreach { _ =>
      val answer = client.send(request, HttpResponse.BodyHandlers.ofString())
      assert(answer.version == HttpClient.Version.HTTP_1_1 && answer.statusCode == 200)
    }
  }

  protocols.foreach { protocol =>
    test(s"a slow reader makes the server wait, and loses nothing ($protocol)") {
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

    test(s"nothing is left of subscriptions whose clients have gone ($protocol)") {
      val all = shards(20)
      val name = consumer()
      withClient(protocol) { client =>
        val open = all.map(client.subscribe(name, _, Position.TrimHorizon))
        assert(kinesis.watch.size == 20)
        open.head.next() // its demand is the connection's own reading
        open.head.close()
        eventually("one to be gone")(kinesis.watch.size == 19)
      }
      eventually("all to be gone")(kinesis.watch.size == 0)
    }

    test(s"faults drop a subscription, cut an event short, or come as an exception ($protocol)") {
      val shard = shards(1).head
      put("a")
      withClient(protocol) { client =>
        Seq[Fault](Fault.SubscriptionDropped, Fault.EventTruncated, Fault.ServiceFailure).foreach {
          kind =>
            fault = Some(kind)
            val name = consumer(s"c-$kind")
            val end = next(client.subscribe(name, shard, Position.TrimHorizon))
            end match {
              case Signal.Failed(cause) =>
                val isFailure =
                  cause.isInstanceOf[sparkkinesis.client.KinesisException.ServiceFailure]
                assert(isFailure == (kind == Fault.ServiceFailure), s"$cause")
              case other => fail(s"$kind: $other")
            }
            fault = None
            val other = consumer(s"d-$kind")
            val it = client.subscribe(other, shard, Position.TrimHorizon)
            assert(next(it).isInstanceOf[Signal.Event])
            it.close()
        }
        eventually("all to be gone")(kinesis.watch.size == 0)
      }
    }
  }

  test("hundreds of subscriptions share a connection, and each has its own records") {
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
      eventually("all to be gone")(kinesis.watch.size == 0)
      assert(client.list(name.stream, None, 10).consumers.size == 1)
    }
  }
}
