package sparkkinesis.simulator.sdk

import java.util.{Map => JMap, Optional}

import com.fasterxml.jackson.core.JsonFactory
import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.dataformat.cbor.CBORFactory
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration
import software.amazon.awssdk.core.interceptor.{
  Context,
  ExecutionAttribute,
  ExecutionAttributes,
  ExecutionInterceptor
}
import software.amazon.awssdk.core.sync.RequestBody
import software.amazon.awssdk.http.SdkHttpRequest

/** Replaces a call of the SDK by one that the SDK does not have yet. */
object SdkNewOperations extends ExecutionInterceptor {
  private final case class Call(operation: String, members: JMap[String, String])

  private val Wanted = new ExecutionAttribute[Call]("sparkkinesis.SdkNewOperations")

  /** A configuration that replaces the call, even if the new call has no result. */
  def instead(operation: String, members: (String, String)*): AwsRequestOverrideConfiguration =
    AwsRequestOverrideConfiguration
      .builder()
      .putExecutionAttribute(Wanted, Call(operation, JMap.ofEntries(members.map(entry): _*)))
      .build()

  override def modifyHttpRequest(
      context: Context.ModifyHttpRequest,
      attributes: ExecutionAttributes
  ): SdkHttpRequest = Option(attributes.getAttribute(Wanted)) match {
    case None => context.httpRequest
    case Some(call) =>
      val target = s"Kinesis_20131202.${call.operation}"
      val length = bytes(call, context.httpRequest).length.toString
      context.httpRequest
        .copy(b => b.putHeader("X-Amz-Target", target).putHeader("Content-Length", length))
  }

  override def modifyHttpContent(
      context: Context.ModifyHttpRequest,
      attributes: ExecutionAttributes
  ): Optional[RequestBody] = Option(attributes.getAttribute(Wanted)) match {
    case None => context.requestBody
    case Some(call) => Optional.of(RequestBody.fromBytes(bytes(call, context.httpRequest)))
  }

  private def entry(member: (String, String)) = JMap.entry(member._1, member._2)

  private def bytes(call: Call, request: SdkHttpRequest): Array[Byte] = {
    val isCbor = request.firstMatchingHeader("Content-Type").filter(_.contains("cbor")).isPresent
    new ObjectMapper(if (isCbor) new CBORFactory else new JsonFactory)
      .writeValueAsBytes(call.members)
  }
}
