package sparkkinesis.client.aws.wire

import java.io.{ByteArrayInputStream, IOException, InputStream}
import java.util.Optional

import scala.jdk.OptionConverters._

import software.amazon.awssdk.core.exception.{AbortedException, SdkClientException}
import software.amazon.awssdk.core.interceptor.{
  Context,
  ExecutionAttribute,
  ExecutionAttributes,
  ExecutionInterceptor
}
import software.amazon.awssdk.http.{Abortable, SdkHttpResponse}

import sparkkinesis.client.ResponseRoom
import sparkkinesis.compat._
import sparkkinesis.model.ServiceLimits

/**
 * Decodes the responses of `GetRecords` and `PutRecords` instead of the SDK, which receives an
 * empty response: the SDK spends most of the time on creating objects. Any other response, such as
 * an error, reaches the SDK unchanged. [[RecordDistributionReader]] only looks at a response.
 */
private[aws] object ResponseDecoder extends ExecutionInterceptor {

  /**
   * The decoded response of one call.
   *
   * @param decode decodes a body; `None` if the SDK must do it
   * @param isAny whether it decodes any body, or else CBOR without a checksum
   * @param room for the body in memory
   */
  final class Decoded[A](
      decode: Array[Byte] => Option[A],
      private[ResponseDecoder] val isAny: Boolean = false,
      room: ResponseRoom = ResponseRoom.ofThread
  ) {
    private var decoded = Option.empty[A]

    /** `None` if the SDK has decoded the response. */
    def value: Option[A] = decoded

    private[ResponseDecoder] def awaitRoom(bytes: Long): Unit =
      try
        if (!room.await(bytes))
          throw SdkClientException.create(s"There is no memory for a response of $bytes bytes.")
      catch {
        case e: InterruptedException =>
          Thread.currentThread.interrupt()
          throw AbortedException.create("Interrupted while the response waited for memory.", e)
      }

    private[ResponseDecoder] def fill(body: Array[Byte]): Boolean = {
      decoded = decode(body)
      decoded.nonEmpty
    }
  }

  /** Set it on each call whose response this object decodes. */
  val Attribute = new ExecutionAttribute[Decoded[_]]("sparkkinesis.ResponseDecoder")

  override def modifyHttpResponseContent(
      context: Context.ModifyHttpResponse,
      attributes: ExecutionAttributes
  ): Optional[InputStream] = {
    val called = Option[Decoded[_]](attributes.getAttribute(Attribute))
      .filter(_ => context.httpResponse.isSuccessful)
    val bytes = length(context.httpResponse).getOrElse(ServiceLimits.GetRecordsBytes)
    try called.foreach(_.awaitRoom(bytes.toLong))
    catch {
      case e: SdkClientException =>
        context.responseBody.ifPresent(abort(_))
        throw e
    }
    val decoded = called.filter(_.isAny || isPlain(context.httpResponse))
    decoded.fold(context.responseBody) { it =>
      context.responseBody.map[InputStream] { stream =>
        val body = readAll(stream, context.httpResponse)
        new ByteArrayInputStream(if (it.fill(body)) EmptyMap else body)
      }
    }
  }

  /** Closes the connection, because the rest of the response may be long. */
  private def abort(body: InputStream): Unit = body match {
    case abortable: Abortable => abortable.abort()
    case other => other.close()
  }

  /** Leaves a response with a checksum to the SDK, which compares the body with it. */
  private def isPlain(response: SdkHttpResponse): Boolean =
    !response.firstMatchingHeader("x-amz-crc32").isPresent &&
      response.firstMatchingHeader("Content-Type").filter(_.startsWith(Cbor)).isPresent

  private def readAll(stream: InputStream, response: SdkHttpResponse): Array[Byte] =
    try
      length(response).fold(readUpTo(stream, MaxLength)) { length =>
        val body = new Array[Byte](length)
        val read = stream.readNBytes(body, 0, length)
        if (read < length)
          throw new IOException(s"The response ended after $read of $length bytes.")
        body
      }
    catch {
      case e: IOException => throw SdkClientException.create("Reading the response failed.", e)
    } finally stream.close()

  /** The room for a response of unknown length is that of a page, which is shorter. */
  private def readUpTo(stream: InputStream, most: Int): Array[Byte] = {
    val body = stream.readNBytes(most + 1)
    if (body.length > most) throw new IOException(s"The response has more than $most bytes.")
    body
  }

  private def length(response: SdkHttpResponse): Option[Int] =
    response.firstMatchingHeader("Content-Length").toScala.flatMap { text =>
      text.toIntOption.filter(length => length >= 0 && length <= MaxLength)
    }

  private val Cbor = "application/x-amz-cbor"

  /** Larger than any page. No more is read. */
  private val MaxLength = 32 * 1024 * 1024
  private val EmptyMap = Array(0xa0.toByte)
}
