package sparkkinesis.source.checkpoint

import java.time.Instant
import java.time.format.DateTimeParseException

import scala.collection.immutable.SortedMap
import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.core.JsonProcessingException
import com.fasterxml.jackson.databind.node.ObjectNode
import com.fasterxml.jackson.databind.{DeserializationFeature, JsonNode, ObjectMapper}

import sparkkinesis.compat._
import sparkkinesis.model.offset.{Progress, ShardProgress, SourceOffset, StreamOffset}
import sparkkinesis.model.{SequenceNumber, ShardId, StreamArn}
import sparkkinesis.source.SourceException

/**
 * Writes a `SourceOffset` to Spark's checkpoint and reads it: versioned JSON with sorted names.
 *
 * The format is public. `docs/reference/checkpoint-format.md` describes it.
 */
object OffsetCodec {
  val Version = 2

  private val mapper = new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
  private val TrimHorizonText = "trim_horizon"
  private val FinishedText = "finished"
  private val AtPrefix = "at:"
  private val FromPrefix = "from:"

  def encode(offset: SourceOffset): String = {
    val root = mapper.createObjectNode()
    root.put("version", Version)
    val streams = root.putObject("streams")
    offset.streams.foreach { case (arn, stream) => put(streams.putObject(arn.toString), stream) }
    mapper.writeValueAsString(root)
  }

  private def put(node: ObjectNode, offset: StreamOffset): Unit = {
    node.put("created", offset.created.toString)
    val shards = node.putObject("shards")
    offset.shards.foreach { case (id, shard) => shards.put(id.name, encode(shard)) }
    val waiting = offset.shards.filter(_._2.waitsFor.nonEmpty)
    if (waiting.nonEmpty) {
      val waitsFor = node.putObject("waitsFor")
      waiting.foreach { case (id, shard) =>
        val parents = waitsFor.putArray(id.name)
        shard.waitsFor.toSeq.sorted.foreach(parent => parents.add(parent.name))
      }
    }
  }

  /** @throws SourceException if the text is not an offset, or has a later version */
  def decode(json: String): SourceOffset = {
    val root =
      try Option(mapper.readTree(json)).filter(_.isObject)
      catch { case _: JsonProcessingException => None }
    val node = root.getOrElse(corrupt(json, "it is not a JSON object"))
    version(node, json) match {
      case 1 =>
        SourceOffset.of(Seq(stream(field(node, "stream", json)(StreamArn.parse), node, json)))
      case _ => SourceOffset.of(streams(node, json))
    }
  }

  private def streams(node: JsonNode, json: String): Iterable[StreamOffset] = {
    val all = Option(node.get("streams"))
      .filter(_.isObject)
      .getOrElse(corrupt(json, "'streams' is not an object"))
    all.properties.asScala.map { entry =>
      val arn = StreamArn
        .parse(entry.getKey)
        .getOrElse(corrupt(json, s"'${entry.getKey}' is not the ARN of a stream"))
      if (!entry.getValue.isObject) corrupt(json, s"stream $arn is not an object")
      stream(arn, entry.getValue, json)
    }
  }

  private def stream(arn: StreamArn, node: JsonNode, json: String): StreamOffset = {
    val waitsFor =
      Option(node.get("waitsFor")).fold(Map.empty[String, Set[ShardId]])(waiting(_, json))
    StreamOffset(
      stream = arn,
      created = field(node, "created", json)(instant),
      shards = shards(node, waitsFor, json)
    )
  }

  private def shards(
      node: JsonNode,
      waitsFor: Map[String, Set[ShardId]],
      json: String
  ): SortedMap[ShardId, ShardProgress] = {
    val all = Option(node.get("shards"))
      .filter(_.isObject)
      .getOrElse(corrupt(json, "'shards' is not an object"))
    val parsed = all.properties.asScala.map { entry =>
      val id = entry.getKey
      val shard =
        Option(entry.getValue.textValue).flatMap(shardOf(waitsFor.getOrElse(id, Set.empty)))
      ShardId(id) -> shard.getOrElse(
        corrupt(json, s"the progress of shard $id is '${entry.getValue.asText}'")
      )
    }
    val result = SortedMap.from(parsed)
    waitsFor.keySet
      .map(ShardId(_))
      .diff(result.keySet)
      .headOption
      .foreach(id => corrupt(json, s"'waitsFor' contains $id, but 'shards' does not"))
    result
  }

  private def waiting(node: JsonNode, json: String): Map[String, Set[ShardId]] = {
    if (!node.isObject) corrupt(json, "'waitsFor' is not an object")
    node.properties.asScala.map { entry =>
      val parents = entry.getValue.elements.asScala.toSeq
      if (!entry.getValue.isArray || !parents.forall(_.isTextual))
        corrupt(json, s"'waitsFor' of ${entry.getKey} is not a list of shards")
      entry.getKey -> parents.map(parent => ShardId(parent.textValue)).toSet
    }.toMap
  }

  private def version(node: JsonNode, json: String): Int = {
    val version = node.get("version")
    if (version == null || !version.isInt) corrupt(json, "it has no 'version'")
    if (version.intValue > Version)
      throw new SourceException(
        "KINESIS_OFFSET_TOO_NEW",
        s"The checkpoint contains a Kinesis offset of version ${version.intValue}, but this " +
          s"release of spark-kinesis reads versions up to $Version. Run the query with the " +
          "release that wrote it."
      )
    if (version.intValue < 1) corrupt(json, s"its version is ${version.intValue}")
    version.intValue
  }

  private def field[A](
      node: JsonNode,
      name: String,
      json: String
  )(parse: String => Option[A]): A = {
    val text = Option(node.get(name)).flatMap(value => Option(value.textValue))
    text
      .flatMap(parse)
      .getOrElse(corrupt(json, s"'$name' is ${text.fold("missing")(t => s"'$t'")}"))
  }

  private def instant(text: String): Option[Instant] =
    try Some(Instant.parse(text))
    catch { case _: DateTimeParseException => None }

  /** The progress, then `@` and `completeAsOf` in milliseconds since 1970. */
  private def encode(shard: ShardProgress): String = {
    val progress = shard.progress match {
      case Progress.TrimHorizon => TrimHorizonText
      case Progress.AtTimestamp(instant) => AtPrefix + instant
      case Progress.From(sequenceNumber) => FromPrefix + sequenceNumber.text
      case Progress.After(sequenceNumber) => sequenceNumber.text
      case Progress.Finished => FinishedText
    }
    progress + shard.completeAsOf.fold("")(instant => s"@${instant.toEpochMilli}")
  }

  private def shardOf(waitsFor: Set[ShardId])(text: String): Option[ShardProgress] =
    text.indexOf('@') match {
      case -1 => progressOf(text).map(ShardProgress(_, waitsFor, None))
      case at =>
        for {
          progress <- progressOf(text.take(at))
          millis <- text.drop(at + 1).toLongOption.filter(_ > 0)
        } yield ShardProgress(progress, waitsFor, Some(Instant.ofEpochMilli(millis)))
    }

  private def progressOf(text: String): Option[Progress] = text match {
    case TrimHorizonText => Some(Progress.TrimHorizon)
    case FinishedText => Some(Progress.Finished)
    case _ if text.startsWith(AtPrefix) =>
      instant(text.stripPrefix(AtPrefix)).map(Progress.AtTimestamp(_))
    case _ if text.startsWith(FromPrefix) =>
      SequenceNumber.parse(text.stripPrefix(FromPrefix)).map(Progress.From(_))
    case _ => SequenceNumber.parse(text).map(Progress.After(_))
  }

  private def corrupt(json: String, reason: String): Nothing =
    throw new SourceException(
      "KINESIS_OFFSET_UNREADABLE",
      s"The checkpoint contains an offset that the Kinesis source cannot read: $reason. If " +
        "another source wrote the checkpoint, use that source or a new checkpoint location. The " +
        "offset is: " +
        json.take(200)
    )
}
