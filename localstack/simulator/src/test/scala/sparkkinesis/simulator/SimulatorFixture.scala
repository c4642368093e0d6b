package sparkkinesis.simulator

import java.net.URI
import java.time.Instant

import sparkkinesis.simulator.contract.{Capabilities, Capability, HttpFixture}
import sparkkinesis.simulator.service.{SimulatedClock, SimulatedKinesis}
import sparkkinesis.simulator.state.Settings

/** The simulator over HTTP, at a time that stands still until it is moved. */
trait SimulatorFixture extends HttpFixture {
  protected def settings: Settings

  private val clock = new SimulatedClock(Instant.parse("2026-01-01T00:00:00Z"))

  private lazy val kinesis = new SimulatedKinesis(clock, settings)
  private lazy val server: KinesisServer = KinesisServer.start(kinesis = kinesis)

  override protected def endpoint: URI = server.endpoint

  override protected def stopServer(): Unit = server.close()

  override protected lazy val capabilities: Capabilities = Capabilities(
    Some(kinesis.advance), // wakes subscriptions, unlike a move of the clock itself
    lacks =
      if (settings.listShardsCount < Settings().listShardsCount) Set.empty
      else Set(Capability.SmallShardPages)
  )
}
