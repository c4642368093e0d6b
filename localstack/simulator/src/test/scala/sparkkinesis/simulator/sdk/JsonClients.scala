package sparkkinesis.simulator.sdk

import software.amazon.awssdk.core.SdkSystemSetting.CBOR_ENABLED

import sparkkinesis.simulator.contract.HttpFixture

/** Clients that speak JSON, as most other SDKs do. */
trait JsonClients extends HttpFixture {

  /** The SDK reads the setting as it makes a client, so the JVM's other clients never see it. */
  override protected def opening[A](client: => A): A = JsonClients.synchronized {
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

private[simulator] object JsonClients
