package sparkkinesis.client.aws

import java.io.{ByteArrayInputStream, IOException, InputStream}
import java.util.Optional

import software.amazon.awssdk.core.exception.SdkClientException
import software.amazon.awssdk.core.interceptor.{
  Context,
  ExecutionAttribute,
  ExecutionAttributes,
  ExecutionInterceptor
}
import software.amazon.awssdk.http.SdkHttpResponse

import sparkkinesis.client.Page

/**
 * Reads the answers of `GetRecords` in place of the SDK, which is left an empty one: making objects of a
 * page's members takes most of the time of reading it. Whatever is unusual, failures above all, goes on
 * to the SDK as it came.
 */
private[aws] object PackedAnswers extends ExecutionInterceptor {

  /** Where a call wants its page. */
  final class Slot {
    private var filled = Option.empty[Page]

    /** `None` where the SDK has read the answer. */
    def page: Option[Page] = filled

    private[PackedAnswers] def fill(page: Page): Unit = filled = Some(page)
  }

  /** To be set for each call whose page is wanted. */
  val Wanted = new ExecutionAttribute[Slot]("sparkkinesis.PackedAnswers")

  override def modifyHttpResponseContent(
      context: Context.ModifyHttpResponse,
      attributes: ExecutionAttributes
  ): Optional[InputStream] = {
    val slot = Option(attributes.getAttribute(Wanted)).filter(_ => isPlain(context.httpResponse))
    slot.fold(context.responseBody) { wanted =>
      context.responseBody.map[InputStream] { stream =>
        val body = readAll(stream, context.httpResponse)
        GetRecordsCbor.decode(body) match {
          case Some(page) =>
            wanted.fill(page)
            new ByteArrayInputStream(EmptyMap)
          case None => new ByteArrayInputStream(body)
        }
      }
    }
  }

  /** With a checksum the SDK compares the body that it gets. */
  private def isPlain(response: SdkHttpResponse): Boolean =
    response.isSuccessful && !response.firstMatchingHeader("x-amz-crc32").isPresent &&
      response.firstMatchingHeader("Content-Type").filter(_.startsWith(Cbor)).isPresent

  private def readAll(stream: InputStream, response: SdkHttpResponse): Array[Byte] =
    try {
      val length = response.firstMatchingHeader("Content-Length").map[Int](_.toInt).orElse(-1)
      if (length < 0 || length > MaxLength) stream.readAllBytes()
      else {
        val body = new Array[Byte](length)
        val read = stream.readNBytes(body, 0, length)
        if (read < length) throw new IOException(s"The answer ended after $read of $length bytes.")
        body
      }
    } catch {
      case e: IOException => throw SdkClientException.create("Reading an answer failed.", e)
    } finally stream.close()

  private val Cbor = "application/x-amz-cbor"

  /** Above the largest page: what a header says is not taken for granted. */
  private val MaxLength = 32 * 1024 * 1024
  private val EmptyMap = Array(0xa0.toByte)
}
