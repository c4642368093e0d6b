package sparkkinesis.client.aws.http

import java.time.{Duration => JavaDuration}

import scala.concurrent.duration.FiniteDuration

import software.amazon.awssdk.awscore.client.builder.{AwsClientBuilder, AwsSyncClientBuilder}
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy
import software.amazon.awssdk.core.client.config.{
  ClientOverrideConfiguration,
  SdkAdvancedClientOption
}
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor
import software.amazon.awssdk.http.apache5.Apache5HttpClient
import software.amazon.awssdk.regions.Region

/** The settings of every AWS client here: synchronous, on Apache 5, without the SDK's retries. */
private[aws] object SdkSettings {

  /**
   * Connections per client. All fetchers and writers of one JVM share a client, so the bound is
   * higher than they need: waiting for a connection would count against the timeout of a call. The
   * client closes idle connections.
   */
  private val MaxConnections = 10000

  private val UserAgent = {
    val version = Option(getClass.getPackage).flatMap(p => Option(p.getImplementationVersion))
    s"spark-kinesis/${version.getOrElse("dev")}"
  }

  /** @param interceptors see requests and responses, in this order */
  def apply[B <: AwsClientBuilder[B, C] with AwsSyncClientBuilder[B, C], C](
      builder: B,
      region: String,
      timeouts: Timeouts,
      interceptors: Seq[ExecutionInterceptor] = Nil
  ): B =
    builder
      .region(Region.of(region))
      .httpClientBuilder(new InterruptibleHttpClient.Builder(httpClient(timeouts)))
      .overrideConfiguration(overrides(timeouts, interceptors))

  private def httpClient(timeouts: Timeouts): Apache5HttpClient.Builder =
    Apache5HttpClient
      .builder()
      .maxConnections(MaxConnections)
      .connectionTimeout(toJava(timeouts.connect))
      .connectionAcquisitionTimeout(toJava(timeouts.connect))
      .socketTimeout(toJava(timeouts.attempt))
      .tcpKeepAlive(true)

  private def overrides(
      timeouts: Timeouts,
      interceptors: Seq[ExecutionInterceptor]
  ): ClientOverrideConfiguration = {
    val builder = ClientOverrideConfiguration
      .builder()
      .apiCallAttemptTimeout(toJava(timeouts.attempt))
      .apiCallTimeout(toJava(timeouts.call))
      .retryStrategy(AwsRetryStrategy.doNotRetry())
      .putAdvancedOption(SdkAdvancedClientOption.USER_AGENT_PREFIX, UserAgent)
    interceptors.foreach(builder.addExecutionInterceptor)
    builder.build()
  }

  private def toJava(duration: FiniteDuration): JavaDuration =
    JavaDuration.ofNanos(duration.toNanos)
}
