package sparkkinesis.source.position

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.core.JsonProcessingException
import com.fasterxml.jackson.databind.{DeserializationFeature, JsonNode, ObjectMapper}

import sparkkinesis.client.options.Options
import sparkkinesis.model.{SequenceNumber, ShardId, StreamArn, StreamRef}

/**
 * Positions of each stream, and of its shards:
 * {{{
 * {"orders": "latest",
 *  "refunds": {"shardId-000000000001": {"after": "4966..."},
 *              "shardId-000000000003": "2026-01-02T03:04:05Z",
 *              "*": "trim_horizon"}}
 * }}}
 *
 * Strict: every stream of the options is in it, named as there, and no other; `*` says where all shards
 * begin (or end) that are not named. Anything else is refused, with the place and the reason.
 *
 * @param streams of the options
 */
final class PositionsJson[A](
    grammar: PositionGrammar[A],
    options: Options,
    streams: Seq[StreamRef]
) {
  import PositionsJson._

  def parse(text: String): Map[StreamRef, ByShard[A]] = {
    val root =
      try mapper.readTree(text)
      catch {
        case e: JsonProcessingException =>
          refuse(s"JSON such as $Example", s"It cannot be read: ${e.getOriginalMessage}.")
      }
    val said = root.properties.asScala.map { entry =>
      val stream = named(entry.getKey)
      stream -> ofStream(stream, entry.getValue)
    }.toMap
    streams.find(!said.contains(_)).foreach { missing =>
      refuse("each stream of the query", s"Say in it where stream $missing begins or ends, too.")
    }
    said
  }

  private def named(key: String): StreamRef = streams.find(_.toString == key).getOrElse {
    val name = StreamArn.parse(key).fold(key)(_.name.name)
    val remedy = streams.find(_.name.name == name).filter(it => !isArn(key) || !isArn(it)) match {
      case Some(other) => s"Stream '$key' is '$other' in the options: name it so here, too."
      case None =>
        s"There is no '$key' among ${streams.mkString(", ")}: name it there, or leave it out."
    }
    refuse("the streams of the query, named as in its options", remedy)
  }

  private def isArn(name: Any): Boolean = name.toString.startsWith("arn:")

  private def ofStream(stream: StreamRef, node: JsonNode): ByShard[A] =
    if (node.isTextual) ByShard(position(s"stream $stream", node.textValue))
    else if (!node.isObject)
      refuse(
        "a position, or an object of shards, for each stream",
        s"Mend that of stream $stream: $node."
      )
    else {
      val shards = node.properties.asScala.map(entry => entry.getKey -> entry.getValue).toSeq
      val others = shards.collectFirst { case (All, value) => ofOthers(stream, value) }
      val each = shards.filterNot(_._1 == All).map { case (name, value) =>
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
    Option(node.textValue).map(position(s""""$All" of stream $stream""", _)).getOrElse {
      refuse(
        s"""${grammar.expected}, for "$All"""",
        s"Mend that of stream $stream. A sequence number is one shard's: put it to the shard's name."
      )
    }

  private def shardId(stream: StreamRef, name: String): ShardId =
    Some(ShardId(name)).filter(_.number.nonEmpty).getOrElse {
      refuse(
        "shards named such as shardId-000000000001",
        s"Mend '$name' of stream $stream: 'aws kinesis list-shards' tells the names."
      )
    }

  private def ofShard(stream: StreamRef, shard: ShardId, node: JsonNode): A = {
    val place = s"$shard of stream $stream"
    if (node.isTextual) position(place, node.textValue)
    else {
      val entries = node.properties.asScala.map(entry => entry.getKey -> entry.getValue).toSeq
      val said = for {
        (key, value) <- Some(entries).collect { case Seq(one) => one }
        (_, of) <- grammar.numbered.find(_._1 == key)
        number <- Option(value.textValue).flatMap(SequenceNumber.parse)
      } yield of(ofThat(place, shard, number))
      said.getOrElse(refuse(numberedExpected, s"Mend that of $place: $node."))
    }
  }

  private def numberedExpected: String = {
    val kinds = grammar.numbered.map { case (name, _) => s"""{"$name": "digits"}""" }
    s"${grammar.expected}, or ${kinds.mkString(" or ")} with a sequence number in quotes"
  }

  private def ofThat(place: String, shard: ShardId, number: SequenceNumber): SequenceNumber = {
    number.shardNumber.filterNot(shard.number.contains).foreach { other =>
      refuse(
        "sequence numbers of the shards they are put to",
        s"$number, put to $place, is one of shard number $other."
      )
    }
    number
  }

  private def position(place: String, text: String): A = grammar.word(text.trim).getOrElse {
    refuse(grammar.expected, s"Mend '$text' of $place. An instant needs its zone.")
  }

  private def refuse(expected: String, remedy: String): Nothing =
    throw options.invalid(grammar.option, expected, remedy)
}

object PositionsJson {
  private val All = "*"
  private val Example = """{"orders": {"shardId-000000000001": {"at": "4966"}, "*": "latest"}}"""

  private val mapper = new ObjectMapper()
    .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
    .enable(DeserializationFeature.FAIL_ON_READING_DUP_TREE_KEY)
}
