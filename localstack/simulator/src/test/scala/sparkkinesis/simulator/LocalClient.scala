package sparkkinesis.simulator

import java.net.URI

import sparkkinesis.client.{ClientConfig, CredentialsConfig, CredentialsSource}
import sparkkinesis.simulator.service.SimulatedKinesis

/** How the connector's client reaches a local Kinesis. */
object LocalClient {
  def config(endpoint: URI): ClientConfig = ClientConfig(
    SimulatedKinesis.Region,
    Some(endpoint),
    CredentialsConfig(CredentialsSource.Static("id", "key", None), None)
  )
}
