package sparkkinesis.simulator.server

import sparkkinesis.ConformanceSuite
import sparkkinesis.simulator.SimulatorFixture
import sparkkinesis.simulator.contract.HttpContract
import sparkkinesis.simulator.sdk.JsonClients
import sparkkinesis.simulator.state.Settings

/** The simulator over HTTP, in JSON as most other SDKs speak it, keeps the contract. */
final class SimulatorJsonSuite
    extends HttpContract
    with SimulatorFixture
    with JsonClients
    with ConformanceSuite {
  override protected def settings: Settings = Settings(listShardsCount = 3)

  test("the clients send JSON and receive JSON") {
    val answer = admin.sdk.listStreams().sdkHttpResponse
    assert(answer.firstMatchingHeader("Content-Type").get == "application/x-amz-json-1.1")
  }
}
