package sparkkinesis.simulator.server

import java.net.URI
import java.time.Instant

import org.scalatest.BeforeAndAfterAll
import software.amazon.awssdk.http.Protocol

import sparkkinesis.client.KinesisClient
import sparkkinesis.simulator.KinesisServer
import sparkkinesis.simulator.contract.{Capabilities, ContractFixture, FanOutContract}
import sparkkinesis.simulator.sdk.SdkFanOut
import sparkkinesis.simulator.service.{KinesisAdmin, SimulatedClock, SimulatedKinesis}

/** Fan-out over HTTP/1.1, where a subscription has a connection for itself. */
final class FanOutHttp1Suite extends ContractFixture with FanOutContract with BeforeAndAfterAll {
  private lazy val clock = new SimulatedClock(Instant.parse("2026-01-01T00:00:00Z"))
  private lazy val kinesis = new SimulatedKinesis(clock)
  private lazy val server = KinesisServer.start(kinesis = kinesis)

  private def endpoint: URI = server.endpoint

  override protected def client: KinesisClient = kinesis

  override protected def admin: KinesisAdmin = kinesis

  override protected lazy val fanOut: SdkFanOut = new SdkFanOut(endpoint, Protocol.HTTP1_1)

  override protected lazy val capabilities: Capabilities =
    Capabilities(Some(clock.advance))

  override protected def afterAll(): Unit = {
    fanOut.close()
    server.close()
  }
}
