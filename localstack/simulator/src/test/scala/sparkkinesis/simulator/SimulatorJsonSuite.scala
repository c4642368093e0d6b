package sparkkinesis.simulator

import java.net.URI
import java.time.Instant

import software.amazon.awssdk.core.SdkSystemSetting.CBOR_ENABLED

/** The simulator over HTTP, in JSON as most other SDKs speak it, keeps the contract. */
final class SimulatorJsonSuite extends HttpContract {
  private lazy val clock = new SimulatedClock(Instant.parse("2026-01-01T00:00:00Z"))

  private lazy val server: KinesisServer =
    KinesisServer.start(kinesis = new SimulatedKinesis(clock, Settings(listShardsCount = 3)))

  override protected def endpoint: URI = server.endpoint

  override protected def stopServer(): Unit = server.close()

  override protected lazy val capabilities: Capabilities =
    Capabilities(Some(clock.advance), lacks = Set.empty)

  override protected def opening[A](client: => A): A = SimulatorJsonSuite.opening(client)

  test("the clients speak JSON, and get it") {
    val answer = admin.sdk.listStreams().sdkHttpResponse
    assert(answer.firstMatchingHeader("Content-Type").get == "application/x-amz-json-1.1")
  }
}

private[simulator] object SimulatorJsonSuite {

  /** The SDK reads the setting as it makes a client, so the JVM's other clients never see it. */
  def opening[A](client: => A): A = synchronized {
    val before = Option(System.setProperty(CBOR_ENABLED.property, "false"))
    try client
    finally {
      before.fold(System.clearProperty(CBOR_ENABLED.property))(
        System.setProperty(CBOR_ENABLED.property, _)
      )
      ()
    }
  }
}
