package sparkkinesis.client.aws.wire

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Base64

import sparkkinesis.client.ShardEvent
import sparkkinesis.compat._
import sparkkinesis.model.SequenceNumber

/**
 * Decodes the events of a subscription, which are in JSON, without creating an object per record.
 * The SDK's decoding takes most of the time of reading them.
 */
private[aws] object EventDecoder {

  /**
   * The event, which refers to the bytes of its message. `None` if [[EventFallback]] must decode
   * it: if it contains an escape, for example in a partition key, or if it is malformed. Then the
   * bytes are as they were.
   *
   * @throws EventFallback.Unreadable if data are not in base64
   */
  def decode(message: EventMessage): Option[ShardEvent] = {
    val event = new Event(message)
    Option.when(event.read())(event.result())
  }

  private val Continuation = "ContinuationSequenceNumber".getBytes(UTF_8)

  private final class Event(of: EventMessage)
      extends RecordsReader(of.bytes, new JsonReader(of.bytes, of.payloadBegin, of.payloadEnd)) {
    private var continuation = Option.empty[SequenceNumber]

    def result(): ShardEvent = {
      mapData(decoded)
      ShardEvent(records, continuation, millisBehind, children)
    }

    override protected def readOwnMember(): Unit =
      if (isText(Continuation)) continuation = Some(parsed(SequenceNumber.parse)) else skipMember()

    /** Decodes base64 where it is, because the data are shorter. Returns their end. */
    private def decoded(begin: Int, end: Int): Int = {
      val data =
        // The JVM replaces it by vector instructions.
        try Base64.getDecoder.decode(ByteBuffer.wrap(of.bytes, begin, end - begin))
        catch { case _: IllegalArgumentException => throw EventFallback.notBase64 }
      val size = data.remaining
      data.get(of.bytes, begin, size)
      begin + size
    }
  }
}
