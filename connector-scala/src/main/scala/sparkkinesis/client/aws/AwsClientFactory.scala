package sparkkinesis.client.aws

import scala.jdk.OptionConverters._

import software.amazon.awssdk.services.kinesis.{KinesisClient => SdkClient, KinesisClientBuilder}

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

  private[aws] def create(config: ClientConfig, timeouts: Timeouts): KinesisClient =
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
      new AwsKinesisClient(sdk, used.location, () => credentials.close(), used.isAws)
    }
}
