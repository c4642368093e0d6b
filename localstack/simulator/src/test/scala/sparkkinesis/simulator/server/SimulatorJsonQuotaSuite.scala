package sparkkinesis.simulator.server

import sparkkinesis.ConformanceSuite
import sparkkinesis.simulator.SimulatorFixture
import sparkkinesis.simulator.contract.QuotaContract
import sparkkinesis.simulator.sdk.JsonClients
import sparkkinesis.simulator.state.Settings

/** The simulator over HTTP in JSON, with its quotas on and its time moved. */
final class SimulatorJsonQuotaSuite
    extends SimulatorFixture
    with QuotaContract
    with JsonClients
    with ConformanceSuite {
  override protected def settings: Settings = Settings(quotas = true)
}
