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
import sparkkinesis.model.{Printable, SequenceNumber, ShardId, StreamArn}
import sparkkinesis.shard.SourceException

/**
 * Writes a `SourceOffset` to Spark's checkpoint and reads it: versioned JSON with sorted names.
 *
 * The format is public. `docs/reference/checkpoint-format.md` describes it.
 */
private[sparkkinesis] object OffsetCodec {
  val Version = 1

  /** The condition of a text that is not an offset. */
  val Unreadable = "KINESIS_OFFSET_UNREADABLE"

  private val mapper = new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)

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
    offset.shards.foreach { case (id, shard) => shards.put(id.name, ShardText.encode(shard)) }
    val waiting = offset.shards.filter(_._2.waitsFor.nonEmpty)
    if (waiting.nonEmpty) {
      val waitsFor = node.putObject("waitsFor")
      waiting.foreach { case (id, shard) =>
        val parents = waitsFor.putArray(id.name)
        shard.waitsFor.toSeq.sorted.foreach(parent => parents.add(parent.name))
      }
    }
    val known = for ((id, shard) <- offset.shards.toSeq; first <- shard.first) yield id -> first
    if (known.nonEmpty) {
      val firsts = node.putObject("first")
      known.foreach { case (id, first) => firsts.put(id.name, first.text) }
    }
  }

  /** @throws SourceException if the text is not an offset, or has a later version */
  def decode(json: String): SourceOffset = new Decoding(json).offset

  private final class Decoding(json: String) {
    def offset: SourceOffset = {
      val root =
        try Option(mapper.readTree(json)).filter(_.isObject)
        catch { case _: JsonProcessingException => None }
      val node = root.getOrElse(corrupt("it is not a JSON object"))
      checkVersion(node)
      SourceOffset.of(required(node, "streams").map { case (name, stream) =>
        val arn = StreamArn.parse(name).getOrElse(corrupt(s"'$name' is not the ARN of a stream"))
        if (!stream.isObject) corrupt(s"stream $arn is not an object")
        StreamOffset(arn, created(stream), shards(stream))
      })
    }

    private def checkVersion(node: JsonNode): Unit = {
      val version = node.get("version")
      if (version == null || !version.isInt) corrupt("it has no 'version'")
      if (version.intValue > Version)
        throw new SourceException(
          "KINESIS_OFFSET_TOO_NEW",
          s"The checkpoint contains a Kinesis offset of version ${version.intValue}, but this " +
            s"release of spark-kinesis reads version $Version. Run the query with the " +
            "release that wrote it."
        )
      if (version.intValue < 1) corrupt(s"its version is ${version.intValue}")
    }

    private def created(stream: JsonNode): Instant = {
      val text = Option(stream.get("created")).flatMap(value => Option(value.textValue))
      text
        .flatMap(ShardText.instant)
        .getOrElse(corrupt(s"'created' is ${text.fold("missing")(t => s"'$t'")}"))
    }

    private def shards(stream: JsonNode): SortedMap[ShardId, ShardProgress] = {
      val waitsFor = optional(stream, "waitsFor").map { case (name, node) =>
        val parents = node.elements.asScala.toSeq
        if (!node.isArray || !parents.forall(_.isTextual))
          corrupt(s"'waitsFor' of $name is not a list of shards")
        name -> parents.map(parent => ShardId(parent.textValue)).toSet
      }
      val first = optional(stream, "first").map { case (name, node) =>
        val number = Option(node.textValue).flatMap(SequenceNumber.parse)
        name -> number.getOrElse(corrupt(s"'first' of $name is not a sequence number"))
      }
      val read = required(stream, "shards")
      Seq("waitsFor" -> waitsFor, "first" -> first).foreach { case (name, ofShards) =>
        ofShards.keys.find(!read.contains(_)).foreach { id =>
          corrupt(s"'$name' contains $id, but 'shards' does not")
        }
      }
      SortedMap.from(read.map { case (name, node) =>
        val shard = Option(node.textValue)
          .flatMap(ShardText.decode)
          .getOrElse(corrupt(s"the progress of shard $name is '${node.asText}'"))
        ShardId(name) ->
          shard.copy(waitsFor = waitsFor.getOrElse(name, Set.empty), first = first.get(name))
      })
    }

    private def optional(node: JsonNode, name: String): Map[String, JsonNode] =
      if (node.has(name)) required(node, name) else Map.empty

    private def required(node: JsonNode, name: String): Map[String, JsonNode] = {
      val fields = Option(node.get(name)).filter(_.isObject)
      val entries = fields.getOrElse(corrupt(s"'$name' is not an object")).properties.asScala
      entries.map(entry => entry.getKey -> entry.getValue).toMap
    }

    private def corrupt(reason: String): Nothing =
      throw new SourceException(
        Unreadable,
        s"The checkpoint contains an offset that the Kinesis source cannot read: $reason. If " +
          "another source wrote the checkpoint, use that source or a new checkpoint location. " +
          s"The offset is: ${Printable(json, 200)}"
      )
  }
}

/** The text of a shard in an offset: its progress, then `@` and `completeAsOf` in ms since 1970. */
private object ShardText {
  private val TrimHorizonText = "trim_horizon"
  private val FinishedText = "finished"
  private val AtPrefix = "at:"
  private val FromPrefix = "from:"

  def encode(shard: ShardProgress): String = {
    val progress = shard.progress match {
      case Progress.TrimHorizon => TrimHorizonText
      case Progress.AtTimestamp(instant) => AtPrefix + instant
      case Progress.From(sequenceNumber) => FromPrefix + sequenceNumber.text
      case Progress.After(sequenceNumber) => sequenceNumber.text
      case Progress.Finished => FinishedText
    }
    progress + shard.completeAsOf.fold("")(instant => s"@${instant.toEpochMilli}")
  }

  /** A shard that waits for none. `None` if the text is not one of a shard. */
  def decode(text: String): Option[ShardProgress] =
    text.indexOf('@') match {
      case -1 => progressOf(text).map(ShardProgress(_, Set.empty, None))
      case at =>
        for {
          progress <- progressOf(text.take(at))
          millis <- text.drop(at + 1).toLongOption.filter(_ > 0)
        } yield ShardProgress(progress, Set.empty, Some(Instant.ofEpochMilli(millis)))
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

  /** `None` if the text is not a time in ISO-8601. */
  def instant(text: String): Option[Instant] =
    try Some(Instant.parse(text))
    catch { case _: DateTimeParseException => None }
}
