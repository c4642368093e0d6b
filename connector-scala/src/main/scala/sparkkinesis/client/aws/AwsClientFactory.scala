package sparkkinesis.client.aws

import java.time.{Duration => JavaDuration}

import scala.concurrent.duration.FiniteDuration

import software.amazon.awssdk.awscore.client.builder.{AwsClientBuilder, AwsSyncClientBuilder}
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy
import software.amazon.awssdk.core.client.config.{
  ClientOverrideConfiguration,
  SdkAdvancedClientOption
}
import software.amazon.awssdk.http.apache5.Apache5HttpClient
import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.services.kinesis.{KinesisClient => SdkClient, KinesisClientBuilder}

import sparkkinesis.client.aws.credentials.AwsCredentials
import sparkkinesis.client.aws.wire.{DistributionAnswers, PackedAnswers, PackedRequests}
import sparkkinesis.client.{ClientConfig, KinesisClient}

/** Makes clients over the AWS SDK: synchronous, on Apache 5, without the SDK's own retries. */
object AwsClientFactory {

  /**
   * Connections of one client, which the fetchers and writers of one JVM share: no bound of its own,
   * for who waits for one has not even asked. Idle ones are closed.
   */
  private val MaxConnections = 10000

  private val UserAgent = {
    val version = Option(getClass.getPackage).flatMap(p => Option(p.getImplementationVersion))
    s"spark-kinesis/${version.getOrElse("dev")}"
  }

  /**
   * A client of its own, to be closed by the caller. Calls nothing yet.
   *
   * @throws sparkkinesis.client.KinesisException.InvalidArgument where the SDK refuses the settings
   */
  def create(config: ClientConfig): KinesisClient = create(config, Timeouts.Default)

  private[aws] def create(config: ClientConfig, timeouts: Timeouts): KinesisClient =
    AwsErrors.translating("Opening a client", config.target) {
      SecretLogs.silence()
      val credentials = AwsCredentials.open(config, timeouts)
      val builder =
        configure[KinesisClientBuilder, SdkClient](SdkClient.builder(), config.region, timeouts)
      config.endpoint.foreach(uri => builder.endpointOverride(uri))
      val sdk = builder.credentialsProvider(credentials.provider).build()
      new AwsKinesisClient(sdk, config.target, () => credentials.close())
    }

  /** The settings that every AWS client of ours shares. */
  private[aws] def configure[B <: AwsClientBuilder[B, C] with AwsSyncClientBuilder[B, C], C](
      builder: B,
      region: String,
      timeouts: Timeouts
  ): B =
    builder
      .region(Region.of(region))
      .httpClientBuilder(new InterruptibleHttpClient.Builder(httpClient(timeouts)))
      .overrideConfiguration(overrides(timeouts))

  private def httpClient(timeouts: Timeouts): Apache5HttpClient.Builder =
    Apache5HttpClient
      .builder()
      .maxConnections(MaxConnections)
      .connectionTimeout(toJava(timeouts.connect))
      .connectionAcquisitionTimeout(toJava(timeouts.connect))
      .socketTimeout(toJava(timeouts.attempt))
      .tcpKeepAlive(true)

  private def overrides(timeouts: Timeouts): ClientOverrideConfiguration =
    ClientOverrideConfiguration
      .builder()
      .apiCallAttemptTimeout(toJava(timeouts.attempt))
      .apiCallTimeout(toJava(timeouts.call))
      .retryStrategy(AwsRetryStrategy.doNotRetry())
      .addExecutionInterceptor(PackedAnswers)
      .addExecutionInterceptor(PackedRequests)
      .addExecutionInterceptor(DistributionAnswers)
      .putAdvancedOption(SdkAdvancedClientOption.USER_AGENT_PREFIX, UserAgent)
      .build()

  private def toJava(duration: FiniteDuration): JavaDuration =
    JavaDuration.ofNanos(duration.toNanos)
}
