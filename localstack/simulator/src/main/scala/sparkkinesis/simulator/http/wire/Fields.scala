package sparkkinesis.simulator.http.wire

import java.io.IOException
import java.time.Instant

import scala.jdk.CollectionConverters._
import scala.util.Try
import scala.util.control.NoStackTrace

import com.fasterxml.jackson.databind.JsonNode

import sparkkinesis.model.{HashKey, SequenceNumber, ShardId, StreamArn, StreamName}
import sparkkinesis.simulator.paging.Tokens
import sparkkinesis.simulator.state.{ErrorCode, Failure, Identifier}

/** A request that is invalid. Its failure becomes the response. */
private[http] final class BadRequest(val failure: Failure.Refused)
    extends RuntimeException(failure.message)
    with NoStackTrace

private[http] object BadRequest {
  def validation(message: String): BadRequest = of(ErrorCode.Validation, message)

  def serialization(message: String): BadRequest = of(ErrorCode.Serialization, message)

  def invalid(message: String): BadRequest = of(ErrorCode.InvalidArgument, message)

  private def of(code: ErrorCode, message: String): BadRequest =
    new BadRequest(Failure.Refused(code, message))
}

/** The account and region of streams that a request gives by name only. */
private[http] final case class Caller(region: String, account: String) {
  def arn(name: StreamName): StreamArn = StreamArn("aws", region, account, name)
}

/**
 * The members of a request. Each method throws [[BadRequest]] if a member is missing or has another
 * type. A null member counts as missing.
 */
private[http] final class Fields(node: JsonNode, format: WireFormat, val caller: Caller) {
  if (!node.isObject) throw BadRequest.serialization("The request is not an object.")

  def has(name: String): Boolean = node.hasNonNull(name)

  /** The stream by ARN, otherwise by name. */
  def stream: StreamArn = optionalStream.getOrElse(
    throw BadRequest.invalid("Either StreamName or StreamARN must be given.")
  )

  def optionalStream: Option[StreamArn] = {
    val byName = optionalText("StreamName").map(streamName).map(caller.arn)
    val byArn = optionalText("StreamARN").map(arn)
    if (byArn.exists(arn => byName.exists(_.name != arn.name)))
      throw BadRequest.invalid("StreamName and StreamARN name two streams.")
    byArn.orElse(byName)
  }

  def shard(name: String): ShardId = shardId(name, text(name))

  def optionalShard(name: String): Option[ShardId] = optionalText(name).map(shardId(name, _))

  def hashKey(name: String): HashKey = optionalHashKey(name).getOrElse(throw missing(name))

  def optionalHashKey(name: String): Option[HashKey] = optionalText(name).map { text =>
    HashKey.parse(text).getOrElse(throw BadRequest.invalid(s"$name '$text' is not a hash key."))
  }

  def sequenceNumber(name: String): SequenceNumber = {
    val number = text(name)
    SequenceNumber
      .parse(number)
      .getOrElse(throw BadRequest.invalid(s"$name '$number' is not a sequence number."))
  }

  def streamName(text: String): StreamName = StreamName
    .parse(text)
    .getOrElse(throw unfit("streamName", text, Identifier.Form))

  def text(name: String): String = optionalText(name).getOrElse(throw missing(name))

  def optionalText(name: String): Option[String] = member(name).map { value =>
    if (value.isTextual && UnicodeText(value.textValue)) value.textValue
    else throw wrongKind(name, "a string")
  }

  def int(name: String): Int = optionalInt(name).getOrElse(throw missing(name))

  def optionalInt(name: String): Option[Int] = member(name).map { value =>
    if (value.isIntegralNumber && value.canConvertToInt) value.intValue
    else throw wrongKind(name, "an integer")
  }

  def optionalBoolean(name: String): Option[Boolean] = member(name).map { value =>
    if (value.isBoolean) value.booleanValue else throw wrongKind(name, "a boolean")
  }

  def instant(name: String): Instant = member(name) match {
    case Some(value) if value.isNumber =>
      Try(format.instant(value)).filter(Tokens.isNear).getOrElse(throw wrongKind(name, "a time"))
    case Some(_) => throw wrongKind(name, "a timestamp")
    case None => throw missing(name)
  }

  def data(name: String): Array[Byte] = {
    val value = member(name).getOrElse(throw missing(name))
    if (!value.isTextual && !value.isBinary) throw wrongKind(name, "a blob")
    try value.binaryValue
    catch { case _: IOException => throw wrongKind(name, "base64") }
  }

  def optionalFields(name: String): Option[Fields] =
    member(name).map(new Fields(_, format, caller))

  /** An object of texts. Null members are left out. */
  def texts(name: String): Map[String, String] = {
    val fields = optionalFields(name).getOrElse(throw missing(name))
    if (!fields.names.forall(UnicodeText(_))) throw wrongKind(name, "a map of strings")
    fields.names.flatMap(key => fields.optionalText(key).map(key -> _)).toMap
  }

  def textList(name: String): Vector[String] = {
    val value = member(name).getOrElse(throw missing(name))
    if (
      !value.isArray || !value.elements.asScala.forall(v => v.isTextual && UnicodeText(v.textValue))
    )
      throw wrongKind(name, "a list of strings")
    value.elements.asScala.map(_.textValue).toVector
  }

  def list(name: String): Vector[Fields] = {
    val value = member(name).getOrElse(throw missing(name))
    if (!value.isArray) throw wrongKind(name, "a list")
    value.elements.asScala.map(new Fields(_, format, caller)).toVector
  }

  def unfit(name: String, value: String, constraint: String): BadRequest = BadRequest.validation(
    s"1 validation error detected: Value '$value' at '$name' failed to satisfy constraint: " +
      s"Member must satisfy $constraint"
  )

  private def names: Vector[String] = node.fieldNames.asScala.toVector

  private def member(name: String): Option[JsonNode] = Option(node.get(name)).filterNot(_.isNull)

  def arn(text: String): StreamArn =
    StreamArn.parse(text).getOrElse(throw unfit("streamARN", text, "the form of a stream ARN"))

  private def shardId(name: String, text: String): ShardId =
    if (Identifier.fits(text)) ShardId(text) else throw unfit(name, text, Identifier.Form)

  private def missing(name: String): BadRequest = BadRequest.validation(
    s"1 validation error detected: Value null at '$name' failed to satisfy constraint: " +
      "Member must not be null"
  )

  private def wrongKind(name: String, kind: String): BadRequest =
    BadRequest.serialization(s"$name is not $kind.")
}
