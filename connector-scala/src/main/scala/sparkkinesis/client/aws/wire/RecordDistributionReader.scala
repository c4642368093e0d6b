package sparkkinesis.client.aws.wire

import scala.util.Try

import com.fasterxml.jackson.core.JsonFactory
import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.dataformat.cbor.CBORFactory

/**
 * Reads `RecordDistributionStrategy` from a response of `DescribeStreamSummary`. SDK 2.52 ignores
 * this member. The SDK receives the response unchanged.
 */
private[aws] final class RecordDistributionReader {
  import RecordDistributionReader._

  private var found = Option.empty[String]

  /** `None` if the response does not contain it. */
  def strategy: Option[String] = found

  val call: ResponseDecoder.Decoded[Nothing] = new ResponseDecoder.Decoded(read, isAny = true)

  private def read(body: Array[Byte]): Option[Nothing] = {
    val reader = if (body.headOption.contains('{'.toByte)) Json else Cbor
    // The SDK refuses a malformed response.
    found = Try(reader.readTree(body)).toOption.flatMap { response =>
      val strategy = response.path("StreamDescriptionSummary").path("RecordDistributionStrategy")
      Option(strategy.textValue)
    }
    None
  }
}

private object RecordDistributionReader {
  private val Cbor = new ObjectMapper(new CBORFactory)
  private val Json = new ObjectMapper(new JsonFactory)
}
