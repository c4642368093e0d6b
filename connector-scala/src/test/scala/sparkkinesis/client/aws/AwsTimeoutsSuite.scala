package sparkkinesis.client.aws

import java.net.{InetAddress, ServerSocket, URI}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger, AtomicReference}

import scala.concurrent.duration._

import org.scalatest.concurrent.Eventually._
import org.scalatest.concurrent.PatienceConfiguration.Timeout
import org.scalatest.concurrent.TimeLimits.failAfter
import org.scalatest.concurrent.{Signaler, ThreadSignaler}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Seconds, Span}

import sparkkinesis.client._
import sparkkinesis.client.access.Timeouts
import sparkkinesis.model.{PutEntry, StreamName, StreamRef}
import sparkkinesis.shard.FetchMemory

class AwsTimeoutsSuite extends AnyFunSuite {
  implicit private val signaler: Signaler = ThreadSignaler
  private val stream = StreamRef.ByName(StreamName("orders"))
  private val keys = CredentialsSource.Static("ID", "hush", None)
  private val bound = Span(60, Seconds)

  private def withClient[A](
      port: Int,
      attempt: FiniteDuration,
      role: Option[RoleConfig] = None
  )(use: KinesisClient => A): A = {
    val endpoint = Some(URI.create(s"http://127.0.0.1:$port"))
    val config = ClientConfig("eu-west-1", endpoint, CredentialsConfig(keys, role))
    val client = AwsClientFactory.create(config, Timeouts(300.millis, attempt, attempt))
    try use(client)
    finally client.close()
  }

  private def withSilentServer[A](use: ServerSocket => A): A = {
    val server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress) // accepts, never answers
    try use(server)
    finally server.close()
  }

  test("a server that never responds is unreachable, in bounded time") {
    withSilentServer { server =>
      withClient(server.getLocalPort, attempt = 300.millis) { client =>
        failAfter(bound) {
          val e = intercept[KinesisException.Unreachable](client.describeStream(stream))
          assert(e.getMessage.contains(s"endpoint http://127.0.0.1:${server.getLocalPort}"))
          assert(e.mayHaveArrived)
        }
      }
    }
  }

  test("a write has a limit of its own") {
    withSilentServer { server =>
      withClient(server.getLocalPort, attempt = 1.hour) { client =>
        failAfter(bound) {
          intercept[KinesisException.Unreachable](
            client.putRecords(stream, Seq(PutEntry("k", Array(1), None)), 300.millis)
          )
        }
      }
    }
  }

  test("a page that finds no memory within the timeout is read later: the service did answer") {
    val stub =
      new HttpStub(_ => HttpStub.Answer(200, "application/x-amz-cbor-1.1", Array(0xa0.toByte)))
    val account = new FetchMemory().join(10 << 20)
    account.hold(100 << 20)
    try
      withClient(stub.endpoint.getPort, attempt = 300.millis) { client =>
        val arrival = account.arrival()
        failAfter(bound) {
          assert(arrival.receive(client.getRecords(stream, ShardIterator("at"), 10)) === Left(1))
        }
        assert(!Thread.currentThread.isInterrupted)
      }
    finally stub.close()
  }

  test("a request whose right to leave has ended when its credentials are there is not sent") {
    val isEnded = new AtomicBoolean
    val asked = new AtomicInteger
    val roles = new RoleService(
      1.hour,
      () => {
        isEnded.set(true)
        false
      }
    )
    val stub = new HttpStub(_ => {
      asked.incrementAndGet()
      HttpStub.Answer(500, "text/html", Array.emptyByteArray)
    })
    val role = RoleConfig("arn:aws:iam::123456789012:role/r", "spark", None, Some(roles.endpoint))
    try
      withClient(stub.endpoint.getPort, attempt = 30.seconds, Some(role)) { client =>
        def put(mayLeave: => Boolean) =
          client.putRecords(stream, Seq(PutEntry("k", Array(1), None)), 30.seconds, () => mayLeave)
        intercept[KinesisException.Withheld](put(!isEnded.get))
        assert(isEnded.get && asked.get === 0)
        intercept[KinesisException.ServiceFailure](put(true))
        assert(asked.get === 1)
      }
    finally Seq(stub, roles).foreach(_.close())
  }

  test("a bare status 413 is a request that is too large, not an unknown failure") {
    val stub =
      new HttpStub(_ => HttpStub.Answer(413, "text/html", "<h1>Too large</h1>".getBytes(UTF_8)))
    try
      withClient(stub.endpoint.getPort, attempt = 30.seconds) { client =>
        val e = intercept[KinesisException.TooLarge](
          client.putRecords(stream, Seq(PutEntry("k", Array(1), None)))
        )
        assert(e.getMessage.startsWith("PutRecords of stream orders"))
      }
    finally stub.close()
  }

  test("a port that refuses connections is unreachable, and the call has not arrived") {
    RefusingPort.using {
      withClient(_, attempt = 1.hour) { client =>
        failAfter(bound) {
          val e = intercept[KinesisException.Unreachable](client.describeStream(stream))
          assert(!e.mayHaveArrived)
        }
      }
    }
  }

  test("a role service that does not respond is unreachable, not a bad credential") {
    withSilentServer { server =>
      val sts = URI.create(s"http://127.0.0.1:${server.getLocalPort}")
      val role = RoleConfig("arn:aws:iam::123456789012:role/r", "spark", None, Some(sts))
      withClient(server.getLocalPort, attempt = 500.millis, Some(role)) { client =>
        failAfter(bound)(intercept[KinesisException.Unreachable](client.describeStream(stream)))
      }
    }
  }

  private def awaitReadingFromSocket(thread: Thread): Unit = eventually(Timeout(bound)) {
    assert(thread.getStackTrace.exists(_.getClassName.contains("NioSocketImpl")))
  }

  test("an interrupted call ends with InterruptedException") {
    withSilentServer { server =>
      withClient(server.getLocalPort, attempt = 30.seconds) { client =>
        val thrown = new AtomicReference[Throwable]
        val caller = new Thread(() =>
          try { client.describeStream(stream); () }
          catch { case e: Throwable => thrown.set(e) }
        )
        caller.start()
        awaitReadingFromSocket(caller)
        caller.interrupt()
        caller.join(20000)
        assert(!caller.isAlive, "still in the call")
        assert(thrown.get.isInstanceOf[InterruptedException], thrown.get)
      }
    }
  }

  test("the region comes from the SDK's chain, and a lookup that hangs is abandoned") {
    System.setProperty("aws.region", "eu-test-7")
    try assert(AwsRegion.default === Some("eu-test-7"))
    finally System.clearProperty("aws.region")
    failAfter(bound) {
      assert(AwsRegion.within(50.millis) {
        new java.util.concurrent.Semaphore(0).acquire(); ""
      } === None)
    }
  }
}
