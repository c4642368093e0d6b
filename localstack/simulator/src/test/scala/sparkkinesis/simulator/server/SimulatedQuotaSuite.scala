package sparkkinesis.simulator.server

import java.time.Instant

import sparkkinesis.ConformanceSuite
import sparkkinesis.simulator.contract.{Capabilities, ContractFixture, QuotaContract}
import sparkkinesis.simulator.service.{KinesisAdmin, SimulatedClock, SimulatedKinesis}
import sparkkinesis.simulator.state.Settings

/** The simulator in memory, with its quotas on. */
final class SimulatedQuotaSuite extends ContractFixture with QuotaContract with ConformanceSuite {
  private lazy val clock = new SimulatedClock(Instant.parse("2026-01-01T00:00:00Z"))

  override protected val client: SimulatedKinesis =
    new SimulatedKinesis(clock, Settings(quotas = true))

  override protected def admin: KinesisAdmin = client

  override protected lazy val capabilities: Capabilities =
    Capabilities(Some(clock.advance))
}
