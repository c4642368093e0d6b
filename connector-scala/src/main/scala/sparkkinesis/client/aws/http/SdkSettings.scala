package sparkkinesis.client.aws.http

import java.net.URI
import java.util.concurrent.Executor

import scala.jdk.DurationConverters._

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
import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.services.kinesis.{KinesisAsyncClient, KinesisAsyncClientBuilder}

import sparkkinesis.client.DaemonThreads
import sparkkinesis.client.access.{NetworkConfig, Timeouts}

/**
 * The settings of every AWS client here, without the SDK's retries. Calls with one answer are
 * synchronous, on Apache 5. Subscriptions are on Netty.
 */
private[aws] object SdkSettings {

  /**
   * The SDK's own timer keeps both time limits of a call until their time comes, although the call
   * has ended (`SdkDefaultClientBuilder`, 2.52).
   */
  private lazy val timer = DaemonThreads.timer("spark-kinesis-timeouts")

  private val UserAgent = {
    val version = Option(getClass.getPackage).flatMap(p => Option(p.getImplementationVersion))
    s"spark-kinesis/${version.getOrElse("dev")}"
  }

  /**
   * @param endpoint instead of that of AWS
   * @param interceptors see requests and responses, in this order
   */
  def apply[B <: AwsClientBuilder[B, C] with AwsSyncClientBuilder[B, C], C](
      builder: B,
      region: String,
      endpoint: Option[URI],
      network: NetworkConfig,
      interceptors: Seq[ExecutionInterceptor] = Nil
  ): B =
    located[B, C](builder, region, endpoint, network)
      .httpClientBuilder(new HttpClients(network, endpoint).sync)
      .overrideConfiguration(overrides(network.timeouts, interceptors))

  /** The settings of a client for subscriptions, which last for minutes. */
  def ofSubscriptions(
      builder: KinesisAsyncClientBuilder,
      region: String,
      endpoint: Option[URI],
      network: NetworkConfig,
      protocol: Protocol
  ): KinesisAsyncClientBuilder =
    located[KinesisAsyncClientBuilder, KinesisAsyncClient](builder, region, endpoint, network)
      .httpClientBuilder(new HttpClients(network, endpoint).async(protocol))
      // The SDK's threads only pass events on.
      .asyncConfiguration((it: ClientAsyncConfiguration.Builder) =>
        it.advancedOption[Executor](
          SdkAdvancedAsyncClientOption.FUTURE_COMPLETION_EXECUTOR,
          (task: Runnable) => task.run()
        ): Unit
      )
      .overrideConfiguration(common.addExecutionInterceptor(AnswerBody).build())

  /** Where a client sends its requests. An endpoint has no kinds. */
  private def located[B <: AwsClientBuilder[B, C], C](
      builder: B,
      region: String,
      endpoint: Option[URI],
      network: NetworkConfig
  ): B = {
    val inRegion = builder.region(Region.of(region))
    endpoint match {
      case Some(uri) => inRegion.endpointOverride(uri): Unit
      case None =>
        network.useFips.foreach(it => inRegion.fipsEnabled(it))
        network.useDualStack.foreach(it => inRegion.dualstackEnabled(it))
    }
    inRegion
  }

  private def overrides(
      timeouts: Timeouts,
      interceptors: Seq[ExecutionInterceptor]
  ): ClientOverrideConfiguration = {
    val builder = common
      .apiCallAttemptTimeout(timeouts.attempt.toJava)
      .apiCallTimeout(timeouts.call.toJava)
    interceptors.foreach(builder.addExecutionInterceptor)
    builder.build()
  }

  private def common: ClientOverrideConfiguration.Builder =
    ClientOverrideConfiguration
      .builder()
      .retryStrategy(AwsRetryStrategy.doNotRetry())
      .scheduledExecutorService(timer)
      .putAdvancedOption(SdkAdvancedClientOption.USER_AGENT_PREFIX, UserAgent)
      .addExecutionInterceptor(CalledHost)
}
