package sparkkinesis.client.aws.wire

import java.io.IOException
import java.util.Base64

import scala.jdk.CollectionConverters._
import scala.util.control.NoStackTrace

import com.fasterxml.jackson.core.{JsonFactory, StreamReadConstraints}
import com.fasterxml.jackson.databind.DeserializationFeature._
import com.fasterxml.jackson.databind.node.ObjectNode
import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

import sparkkinesis.client.ShardEvent
import sparkkinesis.model._

/**
 * Decodes messages of a subscription with Jackson: events that [[EventDecoder]] cannot decode, and
 * exceptions. It is slower and reads any JSON.
 */
private[aws] object EventFallback {

  /** An event that no decoder can decode. */
  final class Unreadable(why: String)
      extends RuntimeException(s"The service has sent an event that cannot be decoded: $why.")
      with NoStackTrace

  /** @throws Unreadable if the bytes are no event */
  def decode(payload: Array[Byte]): ShardEvent =
    try
      mapper.readTree(payload) match {
        case json: ObjectNode => event(json)
        case _ => throw new Unreadable("it is no JSON object")
      }
    catch {
      case e: IOException => throw new Unreadable(e.getMessage.linesIterator.next())
      // Jackson does not wrap it.
      case _: NumberFormatException => throw new Unreadable("the exponent of a number is too large")
    }

  /** The message of an exception. `None` if it has none. */
  def reason(payload: Array[Byte]): Option[String] =
    try
      Option(mapper.readTree(payload)).flatMap(it =>
        text(it, "message").orElse(text(it, "Message"))
      )
    catch { case _: IOException | _: NumberFormatException => None }

  def notBase64: Unreadable = new Unreadable("the data of a record are not in base64")

  private def event(json: JsonNode): ShardEvent = ShardEvent(
    PackedRecords(elements(json, "Records").map(record)),
    text(json, "ContinuationSequenceNumber").map(parsed(SequenceNumber.parse)),
    number(json, "MillisBehindLatest").map(_.longValue),
    elements(json, "ChildShards").map(child),
    isFallback = true
  )

  private def record(json: JsonNode): Record = Record(
    parsed(SequenceNumber.parse)(needed(json, "SequenceNumber")),
    text(json, "PartitionKey"),
    text(json, "Data").fold(Array.emptyByteArray)(data),
    number(json, "ApproximateArrivalTimestamp").fold(0L)(_.movePointRight(3).longValue),
    text(json, "EncryptionType")
  )

  private def data(base64: String): Array[Byte] =
    try Base64.getDecoder.decode(base64)
    catch { case _: IllegalArgumentException => throw notBase64 }

  private def child(json: JsonNode): ChildShard = {
    val hashKeys = value(json, "HashKeyRange").getOrElse(missing("HashKeyRange"))
    def hashKey(name: String) = parsed(HashKey.parse)(needed(hashKeys, name))
    val (first, last) = (hashKey("StartingHashKey"), hashKey("EndingHashKey"))
    if (first > last) throw new Unreadable(s"the first hash key $first is above the last, $last")
    ChildShard(
      ShardId(needed(json, "ShardId")),
      elements(json, "ParentShards").map(parent => ShardId(parent.asText)),
      HashKeyRange(first, last)
    )
  }

  private def value(json: JsonNode, name: String): Option[JsonNode] =
    Option(json.get(name)).filterNot(_.isNull)

  private def text(json: JsonNode, name: String): Option[String] = value(json, name).map(_.asText)

  private def needed(json: JsonNode, name: String): String =
    text(json, name).getOrElse(missing(name))

  private def missing(name: String): Nothing = throw new Unreadable(s"it lacks '$name'")

  private def elements(json: JsonNode, name: String): Vector[JsonNode] =
    value(json, name).fold(Vector.empty[JsonNode]) { it =>
      if (it.isArray) it.elements.asScala.toVector
      else throw new Unreadable(s"'$name' is no list")
    }

  private def number(json: JsonNode, name: String): Option[java.math.BigDecimal] =
    value(json, name).map { it =>
      if (!it.isNumber) throw new Unreadable(s"'$name' is no number")
      val found = it.decimalValue
      if (found.abs.compareTo(Most) > 0) throw new Unreadable(s"'$name' is too large")
      found
    }

  private def parsed[A](parse: String => Option[A])(text: String): A =
    parse(text).getOrElse(throw new Unreadable(s"'${text.take(LongestQuote)}' is no number"))

  private val LongestQuote = 100

  /** Times and periods are below it. */
  private val Most = java.math.BigDecimal.TEN.pow(15)

  /** A record of 10 MiB in base64 has more characters than Jackson allows by default. */
  private val mapper = new ObjectMapper(
    new JsonFactory().setStreamReadConstraints(
      StreamReadConstraints.builder().maxStringLength(Int.MaxValue).build()
    )
  ).enable(USE_BIG_DECIMAL_FOR_FLOATS, FAIL_ON_TRAILING_TOKENS)
}
