package sparkkinesis.simulator.server

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.simulator.SimulatorFixture
import sparkkinesis.simulator.contract.{Capabilities, HttpContract, KinesisClientContract}
import sparkkinesis.simulator.sdk.{FanOutCalls, MemoryFanOut}
import sparkkinesis.simulator.service.{KinesisAdmin, SimulatedClock, SimulatedKinesis}
import sparkkinesis.simulator.state.{Behaviour, Settings}

/** What a client of AWS must expect does not break the contract. */
final class LateKinesisSuite extends KinesisClientContract {
  private val clock = new SimulatedClock(Instant.parse("2026-01-01T00:00:00Z"))

  override protected val client: SimulatedKinesis = new SimulatedKinesis(clock, Late.settings)

  override protected def admin: KinesisAdmin = client

  override protected lazy val fanOut: FanOutCalls = new MemoryFanOut(client)

  override protected lazy val capabilities: Capabilities =
    Capabilities(Some(clock.advance), lacks = Set.empty)
}

/** The same over HTTP. */
final class LateHttpSuite extends HttpContract with SimulatorFixture {
  override protected def settings: Settings = Late.settings
}

private object Late {
  val settings: Settings = Settings(
    listShardsCount = 3,
    behaviour = Behaviour(
      visibilityDelay = 30.millis,
      arrivalFall = 20.millis,
      emptyPages = 0.5,
      lateShardEnds = 0.5
    )
  )
}
