package sparkkinesis.client.aws.http

import java.time.{Duration => JavaDuration}
import java.util.concurrent.Executor

import scala.concurrent.duration.FiniteDuration

import software.amazon.awssdk.awscore.client.builder.{AwsClientBuilder, AwsSyncClientBuilder}
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy
import software.amazon.awssdk.core.client.config.{
  ClientAsyncConfiguration,
  ClientOverrideConfiguration,
  SdkAdvancedAsyncClientOption,
  SdkAdvancedClientOption
}
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor
import software.amazon.awssdk.http.Protocol
import software.amazon.awssdk.http.apache5.Apache5HttpClient
import software.amazon.awssdk.http.nio.netty.{Http2Configuration, NettyNioAsyncHttpClient}
import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.services.kinesis.KinesisAsyncClientBuilder

import sparkkinesis.client.FanOutClient

/**
 * The settings of every AWS client here, without the SDK's retries. Calls with one answer are synchronous,
 * on Apache 5. Subscriptions are on Netty.
 */
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

  /** Of a client for subscriptions, which last for minutes. */
  def ofSubscriptions(
      builder: KinesisAsyncClientBuilder,
      region: String,
      timeouts: Timeouts,
      protocol: Protocol
  ): KinesisAsyncClientBuilder =
    builder
      .region(Region.of(region))
      .httpClientBuilder(nettyClient(timeouts, protocol))
      // Their threads only pass events on.
      .asyncConfiguration((it: ClientAsyncConfiguration.Builder) =>
        it.advancedOption[Executor](
          SdkAdvancedAsyncClientOption.FUTURE_COMPLETION_EXECUTOR,
          (task: Runnable) => task.run()
        ): Unit
      )
      .overrideConfiguration(common.addExecutionInterceptor(AnswerBody).build())

  private def nettyClient(timeouts: Timeouts, protocol: Protocol): NettyNioAsyncHttpClient.Builder =
    NettyNioAsyncHttpClient
      .builder()
      .protocol(protocol)
      .maxConcurrency(MaxConnections)
      .maxPendingConnectionAcquires(MaxConnections)
      .connectionTimeout(toJava(timeouts.connect))
      .connectionAcquisitionTimeout(toJava(timeouts.call))
      .tlsNegotiationTimeout(toJava(timeouts.connect))
      // A reader that has no room reads nothing for long. The feed finds a subscription that is silent.
      .readTimeout(JavaDuration.ofMinutes(10))
      .http2Configuration((it: Http2Configuration.Builder) =>
        it.initialWindowSize(FanOutClient.WindowBytes): Unit
      )
      .tcpKeepAlive(true)

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
    val builder = common
      .apiCallAttemptTimeout(toJava(timeouts.attempt))
      .apiCallTimeout(toJava(timeouts.call))
    interceptors.foreach(builder.addExecutionInterceptor)
    builder.build()
  }

  private def common: ClientOverrideConfiguration.Builder =
    ClientOverrideConfiguration
      .builder()
      .retryStrategy(AwsRetryStrategy.doNotRetry())
      .putAdvancedOption(SdkAdvancedClientOption.USER_AGENT_PREFIX, UserAgent)

  private def toJava(duration: FiniteDuration): JavaDuration =
    JavaDuration.ofNanos(duration.toNanos)
}
