package sparkkinesis.simulator.http.response

import java.io.ByteArrayOutputStream
import java.nio.charset.StandardCharsets.UTF_8

import scala.jdk.CollectionConverters._

import io.netty.buffer.{ByteBuf, Unpooled}
import software.amazon.eventstream.{HeaderValue, Message}

import sparkkinesis.simulator.fanout.SubscriptionEvent
import sparkkinesis.simulator.http.wire.WireFormat
import sparkkinesis.simulator.state.{ErrorCode, Failure}

/**
 * The messages of AWS's event stream. Their payloads are JSON, whatever the format of the request.
 */
private[http] object EventFrames {
  val ContentType = "application/vnd.amazon.eventstream"

  def initial: ByteBuf = frame("event", ":event-type" -> "initial-response", "{}".getBytes(UTF_8))

  def event(event: SubscriptionEvent): ByteBuf = {
    val payload = json(Responses.sizeHint(event, WireFormat.Json))(_.event(event))
    frame("event", ":event-type" -> "SubscribeToShardEvent", payload)
  }

  /** The type of the error is in a header, not in the payload. */
  def exception(failure: Failure.Refused): ByteBuf = {
    val name = failure.code match {
      case ErrorCode.InternalFailure => "InternalFailureException"
      case other => other.name
    }
    val payload = json(512)(_.exception(failure.message))
    frame("exception", ":exception-type" -> name, payload)
  }

  private def frame(kind: String, named: (String, String), payload: Array[Byte]): ByteBuf = {
    val headers = Map(
      ":message-type" -> kind,
      named,
      ":content-type" -> "application/json"
    ).map { case (name, value) => name -> HeaderValue.fromString(value) }
    Unpooled.wrappedBuffer(new Message(headers.asJava, payload).toByteBuffer)
  }

  private def json(size: Int)(write: ConsumerResponses => Unit): Array[Byte] = {
    val out = new ByteArrayOutputStream(size)
    val generator = WireFormat.Json.generator(out)
    write(new ConsumerResponses(new Responses(generator, WireFormat.Json)))
    generator.close()
    out.toByteArray
  }
}
