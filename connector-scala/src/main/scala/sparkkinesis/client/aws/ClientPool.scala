package sparkkinesis.client.aws

import scala.jdk.OptionConverters._

import software.amazon.awssdk.http.Protocol
import software.amazon.awssdk.services.kinesis.{
  KinesisAsyncClient,
  KinesisClient => SdkClient,
  KinesisClientBuilder
}

import sparkkinesis.client._
import sparkkinesis.client.access.Timeouts
import sparkkinesis.client.aws.credentials.ClientCredentials
import sparkkinesis.client.aws.http.{LastCheck, SdkSettings, SecretLogs}
import sparkkinesis.client.aws.wire.{RequestBodyOverride, ResponseDecoder}

/** The Kinesis clients of this JVM: one per configuration, shared by all queries and tasks. */
private[sparkkinesis] object ClientPool {
  val shared: Pool[ClientConfig, KinesisClient] =
    new Pool[ClientConfig, KinesisClient](AwsClientFactory.create(_), SystemClock)
}

/** Creates Kinesis clients over the AWS SDK. */
private[sparkkinesis] object AwsClientFactory {

  private val Interceptors = Seq(ResponseDecoder, RequestBodyOverride, LastCheck)

  /**
   * Creates a client, which the caller must close. Makes no call.
   *
   * @throws sparkkinesis.client.KinesisException.InvalidArgument if the SDK rejects the settings
   */
  def create(config: ClientConfig): KinesisClient = create(config, Protocol.HTTP2)

  private[aws] def create(
      config: ClientConfig,
      timeouts: Timeouts,
      protocol: Protocol = Protocol.HTTP2
  ): KinesisClient =
    create(config.copy(network = config.network.copy(timeouts = timeouts)), protocol)

  /** @param protocol of subscriptions */
  private[aws] def create(config: ClientConfig, protocol: Protocol): KinesisClient =
    AwsErrors.translating("Creating a client", config.location) {
      SecretLogs.silence()
      val credentials = ClientCredentials.open(config)
      val builder = SdkSettings[KinesisClientBuilder, SdkClient](
        SdkClient.builder(),
        config.region,
        config.endpoint,
        config.network,
        Interceptors
      )
      val sdk = builder.credentialsProvider(credentials.provider).build()
      // The user may set an endpoint for the SDK: in the environment, a system property or a
      // profile.
      val used = config.copy(endpoint = sdk.serviceClientConfiguration.endpointOverride.toScala)
      def async() = {
        val subscriptions = SdkSettings.ofSubscriptions(
          KinesisAsyncClient.builder(),
          config.region,
          used.endpoint,
          config.network,
          protocol
        )
        subscriptions.credentialsProvider(credentials.provider).build()
      }
      val warning = new FallbackWarning
      val fanOut = new AwsFanOutClient(sdk, used.location, warning, () => async())
      def closeAlso(): Unit =
        try fanOut.close()
        finally credentials.close()
      new AwsKinesisClient(sdk, used.location, () => closeAlso(), used.isAws, fanOut, warning)
    }
}
