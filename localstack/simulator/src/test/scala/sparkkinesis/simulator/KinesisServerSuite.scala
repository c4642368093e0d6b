package sparkkinesis.simulator

import java.net.{ConnectException, InetAddress, Socket}

import org.scalatest.funsuite.AnyFunSuite

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
}
