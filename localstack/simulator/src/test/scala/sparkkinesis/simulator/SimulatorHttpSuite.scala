package sparkkinesis.simulator

import java.net.URI
import java.time.Instant

/** The simulator over HTTP, in CBOR as AWS's SDK speaks it, keeps the contract. */
final class SimulatorHttpSuite extends HttpContract {
  private lazy val clock = new SimulatedClock(Instant.parse("2026-01-01T00:00:00Z"))

  private lazy val server: KinesisServer =
    KinesisServer.start(kinesis = new SimulatedKinesis(clock, Settings(listShardsCount = 3)))

  override protected def endpoint: URI = server.endpoint

  override protected def stopServer(): Unit = server.close()

  override protected lazy val capabilities: Capabilities =
    Capabilities(Some(clock.advance), lacks = Set.empty)
}
