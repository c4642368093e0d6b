package sparkkinesis.client.aws.http

import software.amazon.awssdk.core.interceptor.{
  Context,
  ExecutionAttribute,
  ExecutionAttributes,
  ExecutionInterceptor
}

/**
 * Asks whether a request may still leave, as the last thing before its first byte: after the SDK
 * has waited for credentials, and has signed the request. Only the HTTP client comes later, which
 * may wait for a connection. The timeout of the request limits that.
 */
private[aws] object LastCheck extends ExecutionInterceptor {

  /** Throws why the request of one call may not leave. */
  val Attribute = new ExecutionAttribute[() => Unit]("sparkkinesis.LastCheck")

  override def beforeTransmission(
      context: Context.BeforeTransmission,
      attributes: ExecutionAttributes
  ): Unit = Option(attributes.getAttribute(Attribute)).foreach(_.apply())
}
