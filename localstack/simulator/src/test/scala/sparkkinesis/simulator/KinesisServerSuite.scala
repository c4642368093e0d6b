package sparkkinesis.simulator

import java.net.{ConnectException, InetAddress, Socket}
import java.nio.charset.StandardCharsets.ISO_8859_1

import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks._

final class KinesisServerSuite extends AnyFunSuite {
  test("a server may be closed twice, by the program and by its shutdown hook") {
    val server = KinesisServer.start()
    server.close()
    server.close()
    server.awaitClosed()
    assertThrows[ConnectException] {
      new Socket(InetAddress.getLoopbackAddress, server.endpoint.getPort).close()
    }
  }

  private val headers = Table(
    ("headers", "status"),
    ("Host: 127.0.0.1:80", 200),
    ("Host: LOCALHOST", 200),
    ("Host: localhost:4567", 200),
    ("Host: [::1]:4567", 200),
    ("Host: evil.example", 400),
    ("Host: 127.0.0.1.evil.example", 400),
    ("Host: localhost.evil.example:4567", 400),
    ("Host: localhost\r\nHost: evil.example", 400),
    ("Host: 127.0.0.1\r\nOrigin: https://evil.example", 400),
    ("Host: 127.0.0.1\r\nOrigin: http://127.0.0.1", 400),
    ("Host: 127.0.0.1\r\norigin: null", 400)
  )

  private val paths = Table(
    ("begin of a request", "body"),
    ("POST /_simulator/clock", "{\"advance\": 0}"),
    ("POST /", "{}")
  )

  test("a web page cannot call the server, neither by another name nor from another origin") {
    Using.resource(KinesisServer.start()) { server =>
      forAll(paths) { (begin, body) =>
        forAll(headers) { (said, status) =>
          val operation = "X-Amz-Target: Kinesis_20131202.ListStreams"
          val head = s"$begin HTTP/1.1\r\n$said\r\n$operation\r\nConnection: close"
          val answer = sent(server, s"$head\r\nContent-Length: ${body.length}\r\n\r\n$body")
          assert(answer.startsWith(s"HTTP/1.1 $status "))
          assert(answer.contains("AccessDeniedException") === (status == 400))
        }
      }
    }
  }

  private def sent(server: KinesisServer, request: String): String =
    Using.resource(new Socket(InetAddress.getLoopbackAddress, server.endpoint.getPort)) { socket =>
      socket.getOutputStream.write(request.getBytes(ISO_8859_1))
      new String(socket.getInputStream.readAllBytes(), ISO_8859_1)
    }
}
