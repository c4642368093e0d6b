package sparkkinesis.client.aws.http

import software.amazon.awssdk.core.interceptor.{
  Context,
  ExecutionAttribute,
  ExecutionAttributes,
  ExecutionInterceptor
}
import software.amazon.awssdk.http.SdkHttpResponse

/**
 * Passes on the headers of a subscription's answer. The SDK's own answer lacks them, and comes only
 * with the first event from servers that send no `initial-response`.
 */
private[aws] object AnswerHeaders extends ExecutionInterceptor {

  /** Receives the headers of one call. Set it on each call whose headers are needed. */
  val Attribute = new ExecutionAttribute[SdkHttpResponse => Unit]("sparkkinesis.AnswerHeaders")

  override def afterTransmission(
      context: Context.AfterTransmission,
      attributes: ExecutionAttributes
  ): Unit = Option(attributes.getAttribute(Attribute)).foreach(_(context.httpResponse))
}
