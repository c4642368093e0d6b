package sparkkinesis.simulator

import java.net.URI
import java.time.Instant

/** The simulator over HTTP, with its quotas on and its time moved. */
final class SimulatorHttpQuotaSuite extends HttpFixture with QuotaContract {
  private lazy val clock = new SimulatedClock(Instant.parse("2026-01-01T00:00:00Z"))

  private lazy val server: KinesisServer =
    KinesisServer.start(kinesis = new SimulatedKinesis(clock, Settings(quotas = true)))

  override protected def endpoint: URI = server.endpoint

  override protected def stopServer(): Unit = server.close()

  override protected lazy val capabilities: Capabilities =
    Capabilities(Some(clock.advance))
}
