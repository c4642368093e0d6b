package sparkkinesis.simulator

import java.net.{ConnectException, InetAddress, Socket}

import org.scalatest.funsuite.AnyFunSuite

final class KinesisServerSuite extends AnyFunSuite {
  test("closing twice is closing once: the program and its shutdown hook may both do it") {
    val server = KinesisServer.start()
    server.close()
    server.close()
    server.awaitClosed()
    assertThrows[ConnectException] {
      new Socket(InetAddress.getLoopbackAddress, server.endpoint.getPort).close()
    }
  }
}
