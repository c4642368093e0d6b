package sparkkinesis.client.aws.wire

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

/**
 * Reads the answers of `GetRecords` and `PutRecords` in place of the SDK, which is left an empty one:
 * making objects of an answer's members takes most of the time of reading it. Whatever is unusual,
 * failures above all, goes on to the SDK as it came.
 */
private[aws] object PackedAnswers extends ExecutionInterceptor {

  /**
   * Where a call wants its answer.
   *
   * @param decode of a body; `None` for what the SDK is to read
   */
  final class Slot[A](decode: Array[Byte] => Option[A]) {
    private var filled = Option.empty[A]

    /** `None` where the SDK has read the answer. */
    def answer: Option[A] = filled

    private[PackedAnswers] def fill(body: Array[Byte]): Boolean = {
      filled = decode(body)
      filled.nonEmpty
    }
  }

  /** To be set for each call whose answer is wanted. */
  val Wanted = new ExecutionAttribute[Slot[_]]("sparkkinesis.PackedAnswers")

  override def modifyHttpResponseContent(
      context: Context.ModifyHttpResponse,
      attributes: ExecutionAttributes
  ): Optional[InputStream] = {
    val slot = Option[Slot[_]](attributes.getAttribute(Wanted))
      .filter(_ => isPlain(context.httpResponse))
    slot.fold(context.responseBody) { wanted =>
      context.responseBody.map[InputStream] { stream =>
        val body = readAll(stream, context.httpResponse)
        new ByteArrayInputStream(if (wanted.fill(body)) EmptyMap else body)
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
