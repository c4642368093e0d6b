package sparkkinesis.client.aws

import java.util.concurrent.{ExecutionException, FutureTask, TimeUnit, TimeoutException}

import scala.concurrent.duration._

import software.amazon.awssdk.core.exception.SdkClientException
import software.amazon.awssdk.regions.providers.DefaultAwsRegionProviderChain

/** The default region of this machine. */
private[sparkkinesis] object AwsRegion {

  /** Outside AWS, the instance metadata may not respond. */
  private val LookupTimeout = 5.seconds

  /** Shared, because it caches the response of the instance metadata. */
  private val chain = new DefaultAwsRegionProviderChain()

  /**
   * The region of the SDK's chain: system property, environment, profile, instance metadata. The
   * search takes at most 5 s.
   */
  def default: Option[String] =
    within(LookupTimeout)(chain.getRegion.id)

  private[aws] def within(timeout: FiniteDuration)(lookup: => String): Option[String] = {
    val task = new FutureTask[String](() => lookup)
    val thread = new Thread(task, "spark-kinesis-region")
    thread.setDaemon(true)
    thread.start()
    try Some(task.get(timeout.toMillis, TimeUnit.MILLISECONDS))
    catch {
      case _: TimeoutException => None
      case e: ExecutionException if e.getCause.isInstanceOf[SdkClientException] => None
    } finally thread.interrupt()
  }
}
