package sparkkinesis.client.aws.wire

import java.util.Optional

import scala.util.control.NoStackTrace

import software.amazon.awssdk.core.SdkSystemSetting
import software.amazon.awssdk.core.interceptor.{
  Context,
  ExecutionAttribute,
  ExecutionAttributes,
  ExecutionInterceptor
}
import software.amazon.awssdk.core.sync.RequestBody
import software.amazon.awssdk.http.{ContentStreamProvider, Header, SdkHttpRequest}

/**
 * Sends a body that was encoded before, instead of the body that the SDK makes from a request.
 * Address, headers, signature, timeouts and errors remain the SDK's.
 */
private[aws] object RequestBodyOverride extends ExecutionInterceptor {

  /** The body of one call, in CBOR. */
  val Body = new ExecutionAttribute[EncodedBody]("sparkkinesis.RequestBodyOverride")

  /** The SDK's request is in another format. Nothing was sent: the SDK must encode the body. */
  final class OtherProtocol extends RuntimeException with NoStackTrace

  /** The SDK's own switch, which it reads when it creates a client. */
  def isCborOn: Boolean = SdkSystemSetting.CBOR_ENABLED.getBooleanValueOrThrow

  override def modifyHttpContent(
      context: Context.ModifyHttpRequest,
      attributes: ExecutionAttributes
  ): Optional[RequestBody] =
    bodyOf(attributes).fold(context.requestBody) { body =>
      val kind = context.httpRequest.firstMatchingHeader(Header.CONTENT_TYPE)
      if (!kind.filter(_.startsWith(Cbor)).isPresent) throw new OtherProtocol
      val content: ContentStreamProvider = () => body.stream()
      Optional.of(RequestBody.fromContentProvider(content, body.size.toLong, kind.get))
    }

  override def modifyHttpRequest(
      context: Context.ModifyHttpRequest,
      attributes: ExecutionAttributes
  ): SdkHttpRequest =
    bodyOf(attributes).fold(context.httpRequest) { body =>
      context.httpRequest.toBuilder
        .putHeader(Header.CONTENT_LENGTH, body.size.toString)
        .build()
    }

  private def bodyOf(attributes: ExecutionAttributes): Option[EncodedBody] =
    Option(attributes.getAttribute(Body))

  private val Cbor = "application/x-amz-cbor"
}
