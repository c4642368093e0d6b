package sparkkinesis.client.aws

import java.net.{InetAddress, ServerSocket, Socket, URI}
import java.nio.charset.StandardCharsets.US_ASCII

import scala.concurrent.duration._
import scala.util.control.NonFatal

import org.scalatest.concurrent.TimeLimits.failAfter
import org.scalatest.concurrent.{Signaler, ThreadSignaler}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Seconds, Span}

import sparkkinesis.client._
import sparkkinesis.client.access.Timeouts
import sparkkinesis.model.{StreamName, StreamRef}

/** A response that never ends is cut off by the timeout of the attempt. */
class AwsStalledAnswerSuite extends AnyFunSuite {
  implicit private val signaler: Signaler = ThreadSignaler
  private val stream = StreamRef.ByName(StreamName("orders"))
  private val bound = Span(20, Seconds)

  private val half = "HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-cbor-1.1\r\n" +
    "Content-Length: 1000000\r\n\r\n" + "x" * 500000

  /** Each connection is dealt with in a thread of its own, which ends with the server. */
  private def withServer[A](deal: Socket => Unit)(use: Int => A): A = {
    val server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress)
    val accepting = daemon {
      while (!server.isClosed) {
        val socket = server.accept()
        daemon {
          try deal(socket)
          finally socket.close()
        }
      }
    }
    try use(server.getLocalPort)
    finally {
      server.close()
      accepting.join(5000)
    }
  }

  private def daemon(body: => Unit): Thread = {
    val thread = new Thread(() =>
      try body
      catch { case NonFatal(_) => () } // the other end has gone
    )
    thread.setDaemon(true)
    thread.start()
    thread
  }

  private def assertCut(attempt: FiniteDuration)(deal: Socket => Unit): Unit = withServer(deal) {
    port =>
      val client = AwsClientFactory.create(
        ClientConfig(
          "eu-west-1",
          Some(URI.create(s"http://127.0.0.1:$port")),
          CredentialsConfig(CredentialsSource.Static("ID", "hush", None), None)
        ),
        Timeouts(1.second, attempt, attempt * 100)
      )
      try
        failAfter(bound) {
          intercept[KinesisException.Unreachable](
            client.getRecords(stream, ShardIterator("token"), 10)
          )
        }
      finally client.close()
  }

  test("a response that stops half-way ends in Unreachable") {
    assertCut(500.millis) { socket =>
      socket.getOutputStream.write(half.getBytes(US_ASCII))
      socket.getInputStream.transferTo(java.io.OutputStream.nullOutputStream()): Unit
    }
  }

  test("a response whose bytes arrive in time, but never all of them, ends in Unreachable") {
    assertCut(500.millis) { socket =>
      val out = socket.getOutputStream
      out.write(half.getBytes(US_ASCII))
      while (true) {
        SystemClock.sleep(50.millis)
        out.write('x')
      }
    }
  }
}
