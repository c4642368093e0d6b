package sparkkinesis.client.aws.http

import scala.jdk.OptionConverters._

import software.amazon.awssdk.core.interceptor.{Context, ExecutionAttributes, ExecutionInterceptor}

/**
 * Attaches to each failure of a call the host that was called. The SDK chooses it for each call:
 * the host of an account if the call names a stream or a consumer by its ARN. A timeout does not
 * name its host.
 */
private[aws] object CalledHost extends ExecutionInterceptor {

  override def modifyException(
      context: Context.FailedExecution,
      attributes: ExecutionAttributes
  ): Throwable = {
    val failure = context.exception
    // A provider of credentials may throw the same exception again.
    if (of(Seq(failure)).isEmpty)
      context.httpRequest.toScala.foreach(it => failure.addSuppressed(new CalledHost(it.host)))
    failure
  }

  /**
   * The host that a failed call was for. `None` if the call failed before a host was chosen.
   *
   * @param causes the failure and its causes, because the SDK wraps some failures
   */
  def of(causes: Seq[Throwable]): Option[String] =
    causes.flatMap(_.getSuppressed).collectFirst { case called: CalledHost => called.name }
}

private final class CalledHost(val name: String)
    extends RuntimeException(s"The host is $name", null, false, false)
