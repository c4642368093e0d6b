package sparkkinesis.client.aws.wire

import java.io.ByteArrayOutputStream
import java.nio.ByteBuffer

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.core.{JsonFactory, JsonGenerator}
import org.scalacheck.Gen
import software.amazon.eventstream.{HeaderValue, Message}

import sparkkinesis.Generators
import sparkkinesis.client.ShardEvent
import sparkkinesis.model.ChildShard

/** Messages of AWS's event stream, encoded by AWS's library. */
private[aws] object EventStreams {

  /** How a service may write the same event. */
  final case class Style(isAscii: Boolean, isPretty: Boolean, hasMore: Boolean, exponent: Boolean)

  val anyStyle: Gen[Style] = for {
    isAscii <- Gen.oneOf(true, false)
    isPretty <- Gen.oneOf(true, false)
    hasMore <- Gen.oneOf(true, false)
    exponent <- Gen.oneOf(true, false)
  } yield Style(isAscii, isPretty, hasMore, exponent)

  val anyChild: Gen[ChildShard] = for {
    id <- Gen.choose(0, 99).map(Generators.shardId)
    parents <- Gen.choose(0, 2).flatMap(Gen.listOfN(_, Gen.choose(0, 99).map(Generators.shardId)))
    hashKeys <- Generators.hashKeyRange
  } yield ChildShard(id, parents.toVector, hashKeys)

  val anyEvent: Gen[ShardEvent] = for {
    records <- Gen.choose(0, 5).flatMap(Gen.listOfN(_, CborPages.anyRecord))
    continuation <- Gen.option(Generators.sequenceNumber)
    behind <- Gen.option(Gen.oneOf(0L, 23L, 1L << 40))
    children <- Gen.choose(0, 2).flatMap(Gen.listOfN(_, anyChild))
  } yield ShardEvent(records.toVector, continuation, behind, children.toVector)

  def event(payload: Array[Byte]): Array[Byte] =
    message(payload, ":message-type" -> "event", ":event-type" -> "SubscribeToShardEvent")

  def initial: Array[Byte] =
    message("{}".getBytes, ":message-type" -> "event", ":event-type" -> "initial-response")

  def message(payload: Array[Byte], headers: (String, String)*): Array[Byte] =
    ofValues(payload, headers.map { case (name, text) => name -> HeaderValue.fromString(text) }: _*)

  def ofValues(payload: Array[Byte], headers: (String, HeaderValue)*): Array[Byte] = {
    val encoded = new Message(headers.toMap.asJava, payload).toByteBuffer
    val bytes = new Array[Byte](encoded.remaining)
    encoded.get(bytes)
    bytes
  }

  /** A whole message. */
  def parsed(bytes: Array[Byte]): EventMessage =
    new EventMessages().next(ByteBuffer.wrap(bytes)).get

  private def json(write: JsonGenerator => Unit): Array[Byte] = {
    val out = new ByteArrayOutputStream
    val generator = new JsonFactory().createGenerator(out)
    write(generator)
    generator.close()
    out.toByteArray
  }

  def encoded(event: ShardEvent, style: Style): Array[Byte] =
    json { out =>
      if (style.isAscii) out.setHighestNonEscapedChar(127): Unit
      if (style.isPretty) out.useDefaultPrettyPrinter(): Unit
      out.writeStartObject()
      more(out, style)
      records(event, style, out)
      event.continuation.foreach(n => out.writeStringField("ContinuationSequenceNumber", n.text))
      event.millisBehindLatest.foreach(out.writeNumberField("MillisBehindLatest", _))
      if (event.continuation.isEmpty) out.writeNullField("ContinuationSequenceNumber")
      if (event.children.nonEmpty || style.hasMore) children(event.children, style, out)
      out.writeEndObject()
    }

  private def more(out: JsonGenerator, style: Style): Unit = if (style.hasMore) {
    out.writeObjectFieldStart("\"New\" \\ \n")
    out.writeArrayFieldStart("[a]")
    Seq("true", "false", "null", "-0.5e-7", "{\"}\": \"{\\\"\"}", "[]", "{}").foreach(
      out.writeRawValue
    )
    out.writeEndArray()
    out.writeEndObject()
  }

  private def records(event: ShardEvent, style: Style, out: JsonGenerator): Unit = {
    out.writeArrayFieldStart("Records")
    event.records.foreach { r =>
      out.writeStartObject()
      out.writeStringField("SequenceNumber", r.sequenceNumber.text)
      val seconds = java.math.BigDecimal.valueOf(r.arrivalMillis, 3)
      out.writeFieldName("ApproximateArrivalTimestamp")
      if (style.exponent) out.writeRawValue(f"${r.arrivalMillis / 1e12}%.12fE9")
      else out.writeNumber(seconds)
      more(out, style)
      out.writeBinaryField("Data", r.data)
      r.partitionKey.foreach(out.writeStringField("PartitionKey", _))
      if (r.partitionKey.isEmpty && style.hasMore) out.writeNullField("PartitionKey")
      r.encryptionType.foreach(out.writeStringField("EncryptionType", _))
      out.writeEndObject()
    }
    out.writeEndArray()
  }

  private def children(all: Seq[ChildShard], style: Style, out: JsonGenerator): Unit = {
    out.writeArrayFieldStart("ChildShards")
    all.foreach(writeChild(out, _)(more(out, style)))
    out.writeEndArray()
  }

  /** @param more writes unknown members */
  def writeChild(out: JsonGenerator, child: ChildShard)(more: => Unit): Unit = {
    out.writeStartObject()
    out.writeStringField("ShardId", child.id.name)
    out.writeArrayFieldStart("ParentShards")
    child.parents.foreach(parent => out.writeString(parent.name))
    out.writeEndArray()
    out.writeObjectFieldStart("HashKeyRange")
    out.writeStringField("StartingHashKey", child.hashKeys.first.toString)
    out.writeStringField("EndingHashKey", child.hashKeys.last.toString)
    more
    out.writeEndObject()
    out.writeEndObject()
  }
}
