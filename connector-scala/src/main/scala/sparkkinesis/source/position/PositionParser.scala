package sparkkinesis.source.position

import java.time.temporal.ChronoUnit
import java.time.{DateTimeException, Instant, OffsetDateTime}
import java.util.Locale

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.core.JsonProcessingException
import com.fasterxml.jackson.databind.{DeserializationFeature, JsonNode, ObjectMapper}

import sparkkinesis.client.options.{OptionSpec, Options}
import sparkkinesis.model.{Position, SequenceNumber, ShardId, StreamArn, StreamRef}

/**
 * Parses a position option: a word or a time for all streams, or JSON for each stream and shard:
 * {{{
 * {"orders": "latest",
 *  "refunds": {"shardId-000000000001": {"after": "4966..."},
 *              "shardId-000000000003": "2026-01-02T03:04:05Z",
 *              "*": "trim_horizon"}}
 * }}}
 *
 * JSON must contain every stream of the query under the name that the options use, and no other
 * stream. `*` is the position of all shards that are not named.
 *
 * @param option contains the position
 * @param words in lower case, and their meaning
 * @param numbered the meaning of a sequence number, by the key in front of it
 * @param streams of the query
 */
private[sparkkinesis] final class PositionParser private (
    option: OptionSpec[String],
    words: Seq[(String, Position)],
    numbered: Seq[(String, SequenceNumber => Position)],
    options: Options,
    streams: Seq[StreamRef]
) {
  import PositionParser._

  /** The accepted values, for messages. */
  private val expected = {
    val named = words.map(_._1).filterNot(_ == Synonym)
    s"${named.mkString(", ")}, or an instant such as 2026-11-21T08:00:00Z"
  }

  private def parse(): Option[Map[StreamRef, ByShard[Position]]] =
    options.get(option).map { text =>
      if (text.startsWith("{")) ofJson(text)
      else {
        val all = position(text).getOrElse {
          val remedy =
            if (text.toLowerCase(Locale.ROOT).startsWith(TimeWord)) TimeAlone else ZoneNeeded
          refuse(s"$expected, or JSON with one of these for each stream", remedy)
        }
        streams.map(_ -> ByShard(all)).toMap
      }
    }

  private def ofJson(text: String): Map[StreamRef, ByShard[Position]] = {
    val root =
      try mapper.readTree(text)
      catch {
        case e: JsonProcessingException =>
          refuse(s"JSON such as $Example", s"This is not valid JSON: ${e.getOriginalMessage}.")
      }
    val positions = entries(root).map { case (key, node) =>
      val stream = named(key)
      stream -> ofStream(stream, node)
    }.toMap
    streams.find(!positions.contains(_)).foreach { missing =>
      refuse("each stream of the query", s"Add a position for stream $missing.")
    }
    positions
  }

  private def named(key: String): StreamRef = streams.find(_.toString == key).getOrElse {
    val name = StreamArn.parse(key).fold(key)(_.name.name)
    val remedy = streams.find(_.name.name == name).filter(it => !isArn(key) || !isArn(it)) match {
      case Some(other) =>
        s"The options name stream '$key' as '$other'. Use that name here, too."
      case None if key == KclTable => KclRemedy
      case None =>
        s"The query reads ${streams.mkString(", ")}, but not '$key'. Add that stream to the " +
          "query, or remove it here."
    }
    refuse("the streams of the query, under the names that the options use", remedy)
  }

  private def isArn(name: Any): Boolean = name.toString.startsWith("arn:")

  private def ofStream(stream: StreamRef, node: JsonNode): ByShard[Position] =
    if (node.isTextual) ByShard(ofText(s"stream $stream", node.textValue))
    else if (!node.isObject)
      refuse("a position, or an object of shards, for each stream", fix(s"stream $stream", node))
    else {
      val (all, shards) = entries(node).partition(_._1 == All)
      val others = all.headOption.map { case (_, value) => ofOthers(stream, value) }
      val each = shards.map { case (name, value) =>
        val shard = shardId(stream, name)
        shard -> ofShard(stream, shard, value)
      }
      ByShard(
        others.getOrElse {
          refuse(
            "a position for all shards of a stream",
            s"""Add "$All" to stream $stream, for the shards that are not named."""
          )
        },
        each.toMap
      )
    }

  private def ofOthers(stream: StreamRef, node: JsonNode): Position =
    Option(node.textValue).map(ofText(s""""$All" of stream $stream""", _)).getOrElse {
      refuse(
        s"""$expected, for "$All"""",
        s"""Fix "$All" of stream $stream. A sequence number is valid in one shard only: """ +
          "give it to that shard."
      )
    }

  private def shardId(stream: StreamRef, name: String): ShardId =
    Some(ShardId(name)).filter(_.number.nonEmpty).getOrElse {
      refuse(
        "shard names such as shardId-000000000001",
        s"Fix '$name' of stream $stream. 'aws kinesis list-shards' lists the names."
      )
    }

  private def ofShard(stream: StreamRef, shard: ShardId, node: JsonNode): Position = {
    val place = s"$shard of stream $stream"
    if (node.isTextual) ofText(place, node.textValue)
    else {
      val at = for {
        (key, value) <- Some(entries(node)).collect { case Seq(one) => one }
        (_, of) <- numbered.find(_._1 == key)
        number <- Option(value.textValue).flatMap(SequenceNumber.parse)
      } yield of(checked(place, shard, number))
      at.getOrElse(refuse(numberedExpected, fix(place, node)))
    }
  }

  private def numberedExpected: String = {
    val kinds = numbered.map { case (name, _) => s"""{"$name": "digits"}""" }
    s"$expected, or ${kinds.mkString(" or ")} with a sequence number in quotes"
  }

  private def checked(place: String, shard: ShardId, number: SequenceNumber): SequenceNumber = {
    number.shardNumber.filterNot(shard.number.contains).foreach { other =>
      refuse(
        "sequence numbers of the shard that they belong to",
        s"Sequence number $number of $place belongs to shard number $other."
      )
    }
    number
  }

  private def ofText(place: String, text: String): Position = position(text.trim).getOrElse {
    refuse(expected, s"Fix '$text' of $place. $ZoneNeeded")
  }

  /** The meaning of a word or a time; `None` for any other text. */
  private def position(text: String): Option[Position] = {
    val lower = text.toLowerCase(Locale.ROOT)
    val word = words.collectFirst { case (`lower`, position) => position }
    word.orElse(instant(text).map(Position.AtTimestamp(_)))
  }

  private def fix(place: String, node: JsonNode): String = s"Fix the position of $place: $node."

  private def refuse(expected: String, remedy: String): Nothing =
    throw options.invalid(option, expected, remedy)
}

private[sparkkinesis] object PositionParser {
  private val Synonym = "earliest" // accepted, but not advertised

  /**
   * Where reading begins in each stream; `None` if the option is absent.
   *
   * @throws sparkkinesis.client.options.OptionException if the value does not follow the grammar
   */
  def start(
      options: Options,
      option: OptionSpec[String],
      streams: Seq[StreamRef]
  ): Option[Map[StreamRef, ByShard[Position]]] =
    new PositionParser(
      option,
      Seq(
        "latest" -> Position.Latest,
        "trim_horizon" -> Position.TrimHorizon,
        Synonym -> Position.TrimHorizon
      ),
      Seq("at" -> Position.AtSequenceNumber, "after" -> Position.AfterSequenceNumber),
      options,
      streams
    ).parse()

  /**
   * Where a batch read ends in each stream: `at` a record, which is read, or before the first
   * record that arrived at a time or later. [[start]] says the rest.
   */
  def end(
      options: Options,
      option: OptionSpec[String],
      streams: Seq[StreamRef]
  ): Option[Map[StreamRef, ByShard[Position]]] =
    new PositionParser(
      option,
      Seq("latest" -> Position.Latest),
      Seq("at" -> Position.AfterSequenceNumber),
      options,
      streams
    ).parse()

  private val All = "*"
  private val Example = """{"orders": {"shardId-000000000001": {"at": "4966"}, "*": "latest"}}"""
  private val ZoneNeeded = "An instant needs its time zone."

  /** What other connectors write before an instant. */
  private val TimeWord = "at_timestamp"
  private val TimeAlone = "Write the instant alone."

  /** The key that earlier versions of the Python package accepted. */
  private val KclTable = "kclTable"
  private val KclRemedy =
    "The connector does not read lease tables of the Kinesis Client Library. Run " +
      "'spark-kinesis migrate kcl', which writes a checkpoint for a new query."

  private val mapper = new ObjectMapper()
    .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
    .enable(DeserializationFeature.FAIL_ON_READING_DUP_TREE_KEY)

  private def entries(node: JsonNode): Seq[(String, JsonNode)] =
    node.properties.asScala.toSeq.map(entry => entry.getKey -> entry.getValue)

  /**
   * ISO 8601 with `Z` or an offset, rounded up to milliseconds: Kinesis reports arrival times in
   * whole milliseconds, so no record arrives between the two.
   */
  private def instant(text: String): Option[Instant] =
    try Some(OffsetDateTime.parse(text).toInstant.plusNanos(999999).truncatedTo(ChronoUnit.MILLIS))
    catch { case _: DateTimeException => None }
}
