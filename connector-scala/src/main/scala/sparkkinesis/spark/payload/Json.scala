package sparkkinesis.spark.payload

import java.nio.ByteBuffer
import java.nio.charset.{CharacterCodingException, StandardCharsets}

import scala.annotation.tailrec
import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.core.json.JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS
import com.fasterxml.jackson.core.{JsonParser, JsonProcessingException, JsonToken}
import com.fasterxml.jackson.databind.DeserializationFeature.FAIL_ON_TRAILING_TOKENS
import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.json.JsonMapper
import com.fasterxml.jackson.databind.node.{ArrayNode, DecimalNode, ObjectNode}

/** JSON as AWS services write it. */
private[spark] object Json {

  /** An object takes two bytes of a record at least, and hundreds in a result. */
  val MaxObjects: Int = 100000

  // `from_json` accepts NaN too.
  private val mapper = JsonMapper
    .builder()
    .enable(ALLOW_NON_NUMERIC_NUMBERS)
    .enable(FAIL_ON_TRAILING_TOKENS)
    .build()

  /**
   * The objects in data, which may follow each other with or without spaces and lines between them.
   * After the first bytes that are not part of an object, and after 100,000 objects, the rest of
   * the data is one reason.
   *
   * @return at least one element
   */
  def split(data: Array[Byte]): Seq[Either[Reason, String]] =
    decoded(data).fold(reason => Seq(Left(reason)), objects)

  private def decoded(data: Array[Byte]): Either[Reason, String] =
    try Right(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(data)).toString)
    catch { case _: CharacterCodingException => Left("NOT_UTF8") }

  private def objects(text: String): Seq[Either[Reason, String]] = {
    val parser = mapper.createParser(text)
    @tailrec
    def from(done: Vector[Either[Reason, String]]): Seq[Either[Reason, String]] =
      next(text, parser) match {
        case None if done.isEmpty => Vector(Left("EMPTY"))
        case None => done
        case Some(Left(reason)) => done :+ Left(reason)
        case _ if done.size == MaxObjects =>
          done :+ Left(s"TOO_MANY: more than $MaxObjects objects")
        case Some(found) => from(done :+ found)
      }
    try from(Vector.empty)
    finally parser.close()
  }

  private def next(text: String, parser: JsonParser): Option[Either[Reason, String]] = {
    val before = parser.currentLocation.getCharOffset
    try
      Option(parser.nextToken()).map { token =>
        val start = parser.currentTokenLocation.getCharOffset
        if (token == JsonToken.START_OBJECT) {
          if (skipObject(parser))
            Right(text.substring(start.toInt, parser.currentLocation.getCharOffset.toInt))
          else
            Left(
              s"TOO_LARGE: the number at character ${parser.currentTokenLocation.getCharOffset + 1}"
            )
        } else Left(notJson(start))
      }
    catch { case _: JsonProcessingException => Some(Left(notJson(before))) }
  }

  /**
   * Goes to the end of an object, or to a number that is too large: as a DECIMAL, `1e600000000`
   * would take Spark hours, because it writes out all zeros.
   */
  @tailrec private def skipObject(parser: JsonParser, depth: Int = 1): Boolean = {
    val token = parser.nextToken()
    val now = if (token.isStructStart) depth + 1 else if (token.isStructEnd) depth - 1 else depth
    if (token == JsonToken.VALUE_NUMBER_FLOAT && exponent(parser.getText).length > MaxExponentText)
      false
    else now == 0 || skipObject(parser, now)
  }

  private def exponent(number: String) = number.dropWhile(it => it != 'e' && it != 'E')

  private val MaxExponentText = "e+999".length

  private def notJson(from: Long): Reason = s"NOT_JSON: from character ${from + 1}"

  /**
   * A change of a DynamoDB table with its items as plain JSON: `{"id":{"N":"1"}}` becomes
   * `{"id":1}`. Sets become arrays, and binary values stay in Base64.
   */
  def ofDynamoDb(record: String): Either[Reason, String] =
    try {
      val tree = mapper.readTree(record)
      tree.get("dynamodb") match {
        case change: ObjectNode =>
          Items.filter(change.has).foreach { name =>
            change.get(name) match {
              case item: ObjectNode => change.set[JsonNode](name, plain(item))
              case _ => throw new UnknownAttribute
            }
          }
          Right(mapper.writeValueAsString(tree))
        case _ => Left("NOT_DYNAMODB")
      }
    } catch {
      case _: JsonProcessingException => Left("NOT_DYNAMODB")
      case _: UnknownAttribute => Left("NOT_DYNAMODB")
    }

  private val Items = Seq("Keys", "NewImage", "OldImage")

  private final class UnknownAttribute extends RuntimeException

  private def plain(attributes: ObjectNode): ObjectNode = {
    val found = mapper.createObjectNode()
    attributes.fields.asScala.foreach(it => found.set[JsonNode](it.getKey, value(it.getValue)))
    found
  }

  private def value(attribute: JsonNode): JsonNode =
    attribute.fields.asScala.toSeq.map(it => it.getKey -> it.getValue) match {
      case Seq(("S" | "B", it)) if it.isTextual => it
      case Seq(("N", it)) if it.isTextual => number(it)
      case Seq(("BOOL", it)) if it.isBoolean => it
      case Seq(("NULL", _)) => mapper.nullNode
      case Seq(("M", it: ObjectNode)) => plain(it)
      case Seq(("L", it: ArrayNode)) => each(it)(value)
      case Seq(("SS" | "BS", it: ArrayNode)) => it
      case Seq(("NS", it: ArrayNode)) => each(it)(number)
      case _ => throw new UnknownAttribute
    }

  /** Longer numbers are not from DynamoDB. Java takes minutes to read millions of digits. */
  private def number(text: JsonNode): JsonNode =
    try {
      if (text.asText.length > MaxDigits) throw new UnknownAttribute
      val found = new java.math.BigDecimal(text.asText)
      val exponent = found.precision.toLong - found.scale
      if (exponent.abs > MaxExponent) throw new UnknownAttribute
      DecimalNode.valueOf(found)
    } catch { case _: NumberFormatException => throw new UnknownAttribute }

  // DynamoDB has 38 digits, and exponents from -130 to 125, with or without the zeros.
  private val MaxDigits = 200
  private val MaxExponent = 130

  private def each(values: ArrayNode)(convert: JsonNode => JsonNode): ArrayNode = {
    val found = mapper.createArrayNode()
    values.elements.asScala.foreach(it => found.add(convert(it)))
    found
  }
}
