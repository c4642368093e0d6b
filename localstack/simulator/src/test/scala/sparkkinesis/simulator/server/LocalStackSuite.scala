package sparkkinesis.simulator.server

import java.net.URI

import org.testcontainers.DockerClientFactory

import sparkkinesis.simulator.contract.{Capabilities, HttpContract, QuotaContract}
import sparkkinesis.simulator.sdk.JsonClients

/**
 * LocalStack follows the contract like kinesis-local, its engine. Needs Docker. Called in JSON,
 * because in CBOR it fails with timestamps and subscriptions.
 */
final class LocalStackSuite extends HttpContract with QuotaContract with JsonClients {
  private lazy val container = LocalStack.start()

  override protected def endpoint: URI = container.endpoint

  override protected def stopServer(): Unit = container.close()

  override protected lazy val notRun: Option[String] =
    if (DockerClientFactory.instance.isDockerAvailable) None
    else Some("LocalStack needs Docker, and there is none that answers")

  override protected lazy val capabilities: Capabilities = KinesisMockSuite.Known

  /** An older engine, which may break other rules: not settled here. */
  override protected def triesLacks: Boolean = false

  notRun.foreach(why => ignore(s"not run: $why")(()))
}
