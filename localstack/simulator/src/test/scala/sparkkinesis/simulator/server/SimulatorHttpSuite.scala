package sparkkinesis.simulator.server

import sparkkinesis.ConformanceSuite
import sparkkinesis.simulator.SimulatorFixture
import sparkkinesis.simulator.contract.HttpContract
import sparkkinesis.simulator.state.Settings

/** The simulator over HTTP, in CBOR as AWS's SDK speaks it, keeps the contract. */
final class SimulatorHttpSuite extends HttpContract with SimulatorFixture with ConformanceSuite {
  override protected def settings: Settings = Settings(listShardsCount = 3)
}
