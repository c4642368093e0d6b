package sparkkinesis.client.aws

import scala.jdk.OptionConverters._

import software.amazon.awssdk.http.Protocol
import software.amazon.awssdk.services.kinesis.{
  KinesisAsyncClient,
  KinesisClient => SdkClient,
  KinesisClientBuilder
}

import sparkkinesis.client.aws.credentials.ClientCredentials
import sparkkinesis.client.aws.http.{SdkSettings, SecretLogs, Timeouts}
import sparkkinesis.client.aws.wire.{RecordDistributionReader, RequestBodyOverride, ResponseDecoder}
import sparkkinesis.client.{ClientConfig, KinesisClient}

/** Creates Kinesis clients over the AWS SDK. */
object AwsClientFactory {

  private val Interceptors = Seq(ResponseDecoder, RequestBodyOverride, RecordDistributionReader)

  /**
   * Creates a client, which the caller must close. Makes no call.
   *
   * @throws sparkkinesis.client.KinesisException.InvalidArgument if the SDK rejects the settings
   */
  def create(config: ClientConfig): KinesisClient = create(config, Timeouts.Default)

  /** @param protocol of subscriptions */
  private[aws] def create(
      config: ClientConfig,
      timeouts: Timeouts,
      protocol: Protocol = Protocol.HTTP2
  ): KinesisClient =
    AwsErrors.translating("Creating a client", config.location) {
      SecretLogs.silence()
      val credentials = ClientCredentials.open(config, timeouts)
      val builder = SdkSettings[KinesisClientBuilder, SdkClient](
        SdkClient.builder(),
        config.region,
        timeouts,
        Interceptors
      )
      config.endpoint.foreach(uri => builder.endpointOverride(uri))
      val sdk = builder.credentialsProvider(credentials.provider).build()
      // The user may set an endpoint for the SDK: in the environment, a system property or a profile.
      val used = config.copy(endpoint = sdk.serviceClientConfiguration.endpointOverride.toScala)
      def async() = {
        val subscriptions = SdkSettings.ofSubscriptions(
          KinesisAsyncClient.builder(),
          config.region,
          timeouts,
          protocol
        )
        used.endpoint.foreach(uri => subscriptions.endpointOverride(uri))
        subscriptions.credentialsProvider(credentials.provider).build()
      }
      val fanOut = new AwsFanOutClient(sdk, used.location, () => async())
      def closeAlso(): Unit =
        try fanOut.close()
        finally credentials.close()
      new AwsKinesisClient(sdk, used.location, () => closeAlso(), used.isAws, fanOut)
    }
}
