package sparkkinesis.client.aws.wire

import java.io.ByteArrayInputStream
import java.util.Optional

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
 * Sends bodies that are written already, in place of what the SDK makes of a request. Address, headers,
 * signature, time limits and errors stay the SDK's.
 */
private[aws] object PackedRequests extends ExecutionInterceptor {

  /** To be set for a call whose body is there: CBOR, not to be written to. */
  val Body = new ExecutionAttribute[Array[Byte]]("sparkkinesis.PackedRequests")

  /** The SDK's own switch, which it reads when a client is made. */
  def isCborOn: Boolean = SdkSystemSetting.CBOR_ENABLED.getBooleanValueOrThrow

  override def modifyHttpContent(
      context: Context.ModifyHttpRequest,
      attributes: ExecutionAttributes
  ): Optional[RequestBody] =
    bodyOf(attributes).fold(context.requestBody) { body =>
      val kind = context.httpRequest.firstMatchingHeader(Header.CONTENT_TYPE)
      if (!kind.filter(_.startsWith(Cbor)).isPresent)
        throw new IllegalStateException(s"A request in CBOR would go as ${kind.orElse("nothing")}.")
      val content: ContentStreamProvider = () => new ByteArrayInputStream(body)
      Optional.of(RequestBody.fromContentProvider(content, body.length.toLong, kind.get))
    }

  override def modifyHttpRequest(
      context: Context.ModifyHttpRequest,
      attributes: ExecutionAttributes
  ): SdkHttpRequest =
    bodyOf(attributes).fold(context.httpRequest) { body =>
      context.httpRequest.toBuilder
        .putHeader(Header.CONTENT_LENGTH, body.length.toString)
        .build()
    }

  private def bodyOf(attributes: ExecutionAttributes): Option[Array[Byte]] =
    Option(attributes.getAttribute(Body))

  private val Cbor = "application/x-amz-cbor"
}
