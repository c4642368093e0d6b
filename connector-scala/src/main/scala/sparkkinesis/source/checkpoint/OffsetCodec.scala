package sparkkinesis.source.checkpoint

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.core.JsonProcessingException
import com.fasterxml.jackson.databind.node.ObjectNode
import com.fasterxml.jackson.databind.{DeserializationFeature, JsonNode, ObjectMapper}

import sparkkinesis.compat._
import sparkkinesis.model.offset.{ShardProgress, SourceOffset, StreamOffset}
import sparkkinesis.model.{SequenceNumber, ShardId, StreamArn}
import sparkkinesis.source.SourceException

/**
 * Writes a `SourceOffset` to Spark's checkpoint and reads it: versioned JSON with sorted names.
 *
 * The format is public. `docs/reference/checkpoint-format.md` describes it.
 */
object OffsetCodec {
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
  def decode(json: String): SourceOffset = {
    val root =
      try Option(mapper.readTree(json)).filter(_.isObject)
      catch { case _: JsonProcessingException => None }
    val node = root.getOrElse(corrupt(json, "it is not a JSON object"))
    checkVersion(node, json)
    SourceOffset.of(streams(node, json))
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
      Option(node.get("waitsFor")).fold(Map.empty[ShardId, Set[ShardId]])(waiting(_, json))
    val first =
      Option(node.get("first")).fold(Map.empty[ShardId, SequenceNumber])(firsts(_, json))
    val read = shards(node, json)
    Seq("waitsFor" -> waitsFor.keySet, "first" -> first.keySet).foreach { case (name, ids) =>
      ids.diff(read.keySet.toSet).headOption.foreach { id =>
        corrupt(json, s"'$name' contains $id, but 'shards' does not")
      }
    }
    StreamOffset(
      stream = arn,
      created = created(node, json),
      shards = read.transform { (id, shard) =>
        shard.copy(waitsFor = waitsFor.getOrElse(id, Set.empty), first = first.get(id))
      }
    )
  }

  private def created(node: JsonNode, json: String): Instant = {
    val text = Option(node.get("created")).flatMap(value => Option(value.textValue))
    text
      .flatMap(ShardText.instant)
      .getOrElse(corrupt(json, s"'created' is ${text.fold("missing")(t => s"'$t'")}"))
  }

  private def shards(node: JsonNode, json: String): SortedMap[ShardId, ShardProgress] = {
    val all = Option(node.get("shards"))
      .filter(_.isObject)
      .getOrElse(corrupt(json, "'shards' is not an object"))
    SortedMap.from(all.properties.asScala.map { entry =>
      val shard = Option(entry.getValue.textValue).flatMap(ShardText.decode)
      ShardId(entry.getKey) -> shard.getOrElse(
        corrupt(json, s"the progress of shard ${entry.getKey} is '${entry.getValue.asText}'")
      )
    })
  }

  private def waiting(node: JsonNode, json: String): Map[ShardId, Set[ShardId]] = {
    if (!node.isObject) corrupt(json, "'waitsFor' is not an object")
    node.properties.asScala.map { entry =>
      val parents = entry.getValue.elements.asScala.toSeq
      if (!entry.getValue.isArray || !parents.forall(_.isTextual))
        corrupt(json, s"'waitsFor' of ${entry.getKey} is not a list of shards")
      ShardId(entry.getKey) -> parents.map(parent => ShardId(parent.textValue)).toSet
    }.toMap
  }

  private def firsts(node: JsonNode, json: String): Map[ShardId, SequenceNumber] = {
    if (!node.isObject) corrupt(json, "'first' is not an object")
    node.properties.asScala.map { entry =>
      val number = Option(entry.getValue.textValue).flatMap(SequenceNumber.parse)
      ShardId(entry.getKey) -> number.getOrElse(
        corrupt(json, s"'first' of ${entry.getKey} is not a sequence number")
      )
    }.toMap
  }

  private def checkVersion(node: JsonNode, json: String): Unit = {
    val version = node.get("version")
    if (version == null || !version.isInt) corrupt(json, "it has no 'version'")
    if (version.intValue > Version)
      throw new SourceException(
        "KINESIS_OFFSET_TOO_NEW",
        s"The checkpoint contains a Kinesis offset of version ${version.intValue}, but this " +
          s"release of spark-kinesis reads version $Version. Run the query with the " +
          "release that wrote it."
      )
    if (version.intValue < 1) corrupt(json, s"its version is ${version.intValue}")
  }

  private def corrupt(json: String, reason: String): Nothing =
    throw new SourceException(
      Unreadable,
      s"The checkpoint contains an offset that the Kinesis source cannot read: $reason. If " +
        "another source wrote the checkpoint, use that source or a new checkpoint location. The " +
        "offset is: " +
        json.take(200)
    )
}
