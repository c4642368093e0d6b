package sparkkinesis.source.position

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.core.JsonProcessingException
import com.fasterxml.jackson.databind.{DeserializationFeature, JsonNode, ObjectMapper}

import sparkkinesis.client.options.Options
import sparkkinesis.model.{SequenceNumber, ShardId, StreamArn, StreamRef}

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
 * @param streams of the query
 */
final class PositionParser[A](
    grammar: PositionGrammar[A],
    options: Options,
    streams: Seq[StreamRef]
) {
  import PositionParser._

  /**
   * The position of each stream; `None` if the option is absent.
   *
   * @throws sparkkinesis.client.options.OptionException if the value does not follow the grammar
   */
  def parse(): Option[Map[StreamRef, ByShard[A]]] = options.text(grammar.option).map { text =>
    if (text.startsWith("{")) ofJson(text)
    else {
      val position = grammar.position(text).getOrElse {
        refuse(s"${grammar.expected}, or JSON with one of these for each stream", ZoneNeeded)
      }
      streams.map(_ -> ByShard(position)).toMap
    }
  }

  private def ofJson(text: String): Map[StreamRef, ByShard[A]] = {
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

  private def ofStream(stream: StreamRef, node: JsonNode): ByShard[A] =
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

  private def ofOthers(stream: StreamRef, node: JsonNode): A =
    Option(node.textValue).map(ofText(s""""$All" of stream $stream""", _)).getOrElse {
      refuse(
        s"""${grammar.expected}, for "$All"""",
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

  private def ofShard(stream: StreamRef, shard: ShardId, node: JsonNode): A = {
    val place = s"$shard of stream $stream"
    if (node.isTextual) ofText(place, node.textValue)
    else {
      val position = for {
        (key, value) <- Some(entries(node)).collect { case Seq(one) => one }
        (_, of) <- grammar.numbered.find(_._1 == key)
        number <- Option(value.textValue).flatMap(SequenceNumber.parse)
      } yield of(checked(place, shard, number))
      position.getOrElse(refuse(numberedExpected, fix(place, node)))
    }
  }

  private def numberedExpected: String = {
    val kinds = grammar.numbered.map { case (name, _) => s"""{"$name": "digits"}""" }
    s"${grammar.expected}, or ${kinds.mkString(" or ")} with a sequence number in quotes"
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

  private def ofText(place: String, text: String): A = grammar.position(text.trim).getOrElse {
    refuse(grammar.expected, s"Fix '$text' of $place. $ZoneNeeded")
  }

  private def fix(place: String, node: JsonNode): String = s"Fix the position of $place: $node."

  private def refuse(expected: String, remedy: String): Nothing =
    throw options.invalid(grammar.option, expected, remedy)
}

object PositionParser {
  private val All = "*"
  private val Example = """{"orders": {"shardId-000000000001": {"at": "4966"}, "*": "latest"}}"""
  private val ZoneNeeded = "An instant needs its time zone."

  /** A starting position in Python, which reads the table and passes on the positions. */
  private val KclTable = "kclTable"
  private val KclRemedy =
    "The connector does not read lease tables of the Kinesis Client Library. In Python, use the " +
      "builder: KinesisSource(..., starting_position={'kclTable': 'orders-app'}). Otherwise run " +
      "'spark-kinesis migrate kcl', which writes a checkpoint for a new query."

  private val mapper = new ObjectMapper()
    .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
    .enable(DeserializationFeature.FAIL_ON_READING_DUP_TREE_KEY)

  private def entries(node: JsonNode): Seq[(String, JsonNode)] =
    node.properties.asScala.toSeq.map(entry => entry.getKey -> entry.getValue)
}
