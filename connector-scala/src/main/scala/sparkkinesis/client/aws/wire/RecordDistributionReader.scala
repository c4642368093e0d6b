package sparkkinesis.client.aws.wire

import java.io.{ByteArrayInputStream, IOException, InputStream}
import java.util.Optional

import scala.util.Try

import com.fasterxml.jackson.core.JsonFactory
import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.dataformat.cbor.CBORFactory
import software.amazon.awssdk.core.exception.SdkClientException
import software.amazon.awssdk.core.interceptor.{
  Context,
  ExecutionAttribute,
  ExecutionAttributes,
  ExecutionInterceptor
}
import software.amazon.awssdk.http.SdkHttpResponse

/**
 * Reads `RecordDistributionStrategy` from the responses of `DescribeStreamSummary`. SDK 2.52
 * ignores this member. The SDK receives the response unchanged.
 */
private[aws] object RecordDistributionReader extends ExecutionInterceptor {

  /** The strategy in the response of one call. */
  final class Strategy {
    private var found = Option.empty[String]

    /** `None` if the response does not contain it. */
    def name: Option[String] = found

    private[RecordDistributionReader] def fill(strategy: Option[String]): Unit = found = strategy
  }

  /** Set it on each call whose strategy is needed. */
  val Attribute = new ExecutionAttribute[Strategy]("sparkkinesis.RecordDistributionReader")

  override def modifyHttpResponseContent(
      context: Context.ModifyHttpResponse,
      attributes: ExecutionAttributes
  ): Optional[InputStream] =
    Option(attributes.getAttribute(Attribute)).filter(_ =>
      context.httpResponse.isSuccessful
    ) match {
      case None => context.responseBody
      case Some(slot) =>
        context.responseBody.map[InputStream] { stream =>
          val body = readAll(stream)
          slot.fill(strategyIn(body, reader(context.httpResponse)))
          new ByteArrayInputStream(body)
        }
    }

  private def readAll(stream: InputStream): Array[Byte] =
    try stream.readAllBytes()
    catch {
      case e: IOException => throw SdkClientException.create("Reading the response failed.", e)
    } finally stream.close()

  private def reader(response: SdkHttpResponse): ObjectMapper =
    if (response.firstMatchingHeader("Content-Type").filter(_.contains("cbor")).isPresent) Cbor
    else Json

  /** `None` for a malformed response, which the SDK refuses. */
  private def strategyIn(body: Array[Byte], reader: ObjectMapper): Option[String] =
    Try(reader.readTree(body)).toOption.flatMap { response =>
      val strategy = response.path("StreamDescriptionSummary").path("RecordDistributionStrategy")
      Option(strategy.textValue)
    }

  private val Cbor = new ObjectMapper(new CBORFactory)
  private val Json = new ObjectMapper(new JsonFactory)
}
