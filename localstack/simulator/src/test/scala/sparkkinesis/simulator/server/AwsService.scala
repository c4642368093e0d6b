package sparkkinesis.simulator.server

import scala.concurrent.duration._

import software.amazon.awssdk.core.interceptor.{Context, ExecutionAttributes, ExecutionInterceptor}
import software.amazon.awssdk.http.apache5.Apache5HttpClient
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient
import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.services.kinesis.{KinesisAsyncClient, KinesisClient => SdkClient}

import sparkkinesis.client.aws.AwsClientFactory
import sparkkinesis.client.{
  ClientConfig,
  CredentialsConfig,
  CredentialsSource,
  KinesisClient,
  SystemClock
}
import sparkkinesis.simulator.sdk.{PatientClient, SdkFanOut, SdkKinesisAdmin}

/** Kinesis in a region of AWS, called at the rate that it allows. */
final class AwsService(region: String) extends AutoCloseable {
  val client: KinesisClient = new PatientClient(
    AwsClientFactory.create(
      ClientConfig(region, None, CredentialsConfig(CredentialsSource.DefaultChain, None))
    )
  )

  val admin: SdkKinesisAdmin = new SdkKinesisAdmin(
    SdkClient
      .builder()
      .region(Region.of(region))
      .httpClientBuilder(Apache5HttpClient.builder())
      .overrideConfiguration(_.addExecutionInterceptor(Paced))
      .build()
  )

  val fanOut: SdkFanOut = new SdkFanOut(
    KinesisAsyncClient
      .builder()
      .region(Region.of(region))
      .httpClientBuilder(NettyNioAsyncHttpClient.builder())
      .overrideConfiguration(_.addExecutionInterceptor(Paced))
      .build()
  )

  override def close(): Unit = {
    client.close()
    admin.close()
    fanOut.close()
  }

  /** Limits calls to five per second, as the service does for most control calls. */
  private object Paced extends ExecutionInterceptor {
    override def beforeTransmission(
        context: Context.BeforeTransmission,
        attributes: ExecutionAttributes
    ): Unit = SystemClock.sleep(250.millis)
  }
}
