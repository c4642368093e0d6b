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
 * Reads from the answers of `DescribeStreamSummary` the one member that the SDK, as of 2.52, passes
 * over: `RecordDistributionStrategy`. The SDK gets the answer as it came.
 */
private[aws] object DistributionAnswers extends ExecutionInterceptor {

  /** Where a call wants the strategy. */
  final class Slot {
    private var found = Option.empty[String]

    /** `None` where the answer does not tell. */
    def strategy: Option[String] = found

    private[DistributionAnswers] def fill(strategy: Option[String]): Unit = found = strategy
  }

  /** To be set for each call whose strategy is wanted. */
  val Wanted = new ExecutionAttribute[Slot]("sparkkinesis.DistributionAnswers")

  override def modifyHttpResponseContent(
      context: Context.ModifyHttpResponse,
      attributes: ExecutionAttributes
  ): Optional[InputStream] =
    Option(attributes.getAttribute(Wanted)).filter(_ => context.httpResponse.isSuccessful) match {
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
    catch { case e: IOException => throw SdkClientException.create("Reading an answer failed.", e) }
    finally stream.close()

  private def reader(response: SdkHttpResponse): ObjectMapper =
    if (response.firstMatchingHeader("Content-Type").filter(_.contains("cbor")).isPresent) Cbor
    else Json

  /** What is damaged is the SDK's to refuse. */
  private def strategyIn(body: Array[Byte], reader: ObjectMapper): Option[String] =
    Try(reader.readTree(body)).toOption.flatMap { answer =>
      val strategy = answer.path("StreamDescriptionSummary").path("RecordDistributionStrategy")
      Option(strategy.textValue)
    }

  private val Cbor = new ObjectMapper(new CBORFactory)
  private val Json = new ObjectMapper(new JsonFactory)
}
