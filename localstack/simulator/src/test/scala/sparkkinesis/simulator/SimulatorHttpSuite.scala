package sparkkinesis.simulator

/** The simulator over HTTP, in CBOR as AWS's SDK speaks it, keeps the contract. */
final class SimulatorHttpSuite extends HttpContract with SimulatorFixture {
  override protected def settings: Settings = Settings(listShardsCount = 3)
}
