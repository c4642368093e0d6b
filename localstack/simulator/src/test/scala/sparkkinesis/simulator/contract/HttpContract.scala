package sparkkinesis.simulator.contract

import java.net.URI

import org.scalatest.BeforeAndAfterAll
import software.amazon.awssdk.http.Protocol

import sparkkinesis.client.KinesisClient
import sparkkinesis.client.aws.AwsClientFactory
import sparkkinesis.simulator.LocalClient
import sparkkinesis.simulator.sdk.{SdkFanOut, SdkKinesisAdmin}

/** The contract over HTTP. */
abstract class HttpContract extends KinesisClientContract with HttpFixture {

  /** Over HTTP/2. */
  override protected lazy val fanOut: SdkFanOut =
    opening(new SdkFanOut(endpoint, Protocol.HTTP2))

  override protected def afterAll(): Unit =
    try fanOut.close()
    finally super.afterAll()
}

/** A Kinesis over HTTP: the connector's own adapter reads and writes, the SDK does the rest. */
trait HttpFixture extends ContractFixture with BeforeAndAfterAll {

  /** Starts the server on first use. */
  protected def endpoint: URI

  protected def stopServer(): Unit

  /** Makes a client: where a suite needs other ones, it sets the scene here. */
  protected def opening[A](client: => A): A = client

  override protected lazy val admin: SdkKinesisAdmin = opening(new SdkKinesisAdmin(endpoint))

  override protected lazy val client: KinesisClient = opening(
    AwsClientFactory.create(LocalClient.config(endpoint))
  )

  override protected def afterAll(): Unit =
    try {
      client.close()
      admin.close()
    } finally stopServer()
}
