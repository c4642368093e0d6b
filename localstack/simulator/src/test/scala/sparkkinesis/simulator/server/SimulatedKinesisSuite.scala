package sparkkinesis.simulator.server

import java.time.Instant

import sparkkinesis.ConformanceSuite
import sparkkinesis.simulator.contract.{Capabilities, KinesisClientContract}
import sparkkinesis.simulator.sdk.{FanOutCalls, MemoryFanOut}
import sparkkinesis.simulator.service.{KinesisAdmin, SimulatedClock, SimulatedKinesis}
import sparkkinesis.simulator.state.Settings

/** The simulator in memory keeps the contract. */
final class SimulatedKinesisSuite extends KinesisClientContract with ConformanceSuite {
  private lazy val clock = new SimulatedClock(Instant.parse("2026-01-01T00:00:00Z"))

  override protected val client: SimulatedKinesis =
    new SimulatedKinesis(clock, Settings(listShardsCount = 3))

  override protected def admin: KinesisAdmin = client

  override protected lazy val fanOut: FanOutCalls = new MemoryFanOut(client)

  override protected lazy val capabilities: Capabilities =
    Capabilities(Some(clock.advance), lacks = Set.empty)
}
