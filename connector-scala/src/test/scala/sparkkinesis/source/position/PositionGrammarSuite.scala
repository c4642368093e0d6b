package sparkkinesis.source.position

import java.time.Instant

import com.fasterxml.jackson.databind.ObjectMapper
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.Generators._
import sparkkinesis.client.options.OptionException
import sparkkinesis.client.options.OptionException.InvalidOption
import sparkkinesis.model.{SequenceNumber, StreamName, StreamRef}
import sparkkinesis.source.options.SourceOptions

/** Positions in JSON: what they mean, and what is refused with which reason. */
class PositionGrammarSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val orders = StreamRef.ByName(StreamName("orders"))
  private val refunds = StreamRef.ByName(StreamName("refunds"))
  private val one = shardId(1)

  /** One of the service's own, of shard 6. */
  private val ofShard6 = "49590338271490256608559692538361571095921575989136588898"

  private def parse(start: String, streams: String = "orders") = SourceOptions.parse(
    Map("streamName" -> streams, "startingPosition" -> start, "region" -> "eu-west-1"),
    None
  )

  private def shards(value: String, others: String = "\"latest\"") =
    s"""{"orders": {"${one.name}": $value, "*": $others}}"""

  private def meaning(position: StartingPosition) =
    Map(orders -> ByShard(StartingPosition.Latest, Map(one -> position)))

  private val instant = StartingPosition.AtTimestamp(Instant.parse("2026-01-02T03:04:05Z"))
  private val number = SequenceNumber("4966")

  private val good = Table[String, Map[_ <: StreamRef, ByShard[StartingPosition]]](
    ("value", "meaning"),
    ("""{"orders": "latest"}""", Map(orders -> ByShard(StartingPosition.Latest))),
    (""" {"orders":"EARLIEST"} """, Map(orders -> ByShard(StartingPosition.TrimHorizon))),
    ("""{"orders": "2026-01-02T03:04:05Z"}""", Map(orders -> ByShard(instant))),
    ("""{"orders": {"*": "2026-01-02T05:04:05+02:00"}}""", Map(orders -> ByShard(instant))),
    (shards("\"trim_horizon\""), meaning(StartingPosition.TrimHorizon)),
    (shards("\"2026-01-02T03:04:05Z\""), meaning(instant)),
    (shards("""{"at": "4966"}"""), meaning(StartingPosition.At(number))),
    (shards("""{"after": "4966"}"""), meaning(StartingPosition.After(number)))
  )

  test("JSON is read") {
    forAll(good)((value, meaning) => assert(parse(value).start === Some(meaning)))
  }

  test("each stream begins where it says, by name or by ARN") {
    val start = parse("""{"refunds": "trim_horizon", "orders": "latest"}""", "orders,refunds")
    assert(start.queryStart(orders).others === StartingPosition.Latest)
    assert(start.batchStart(refunds).others === StartingPosition.TrimHorizon)
    val json = s"""{"$arn": "trim_horizon"}"""
    val byArn =
      SourceOptions.parse(Map("streamArn" -> arn.toString, "startingPosition" -> json), None)
    assert(byArn.queryStart(stream).others === StartingPosition.TrimHorizon)
  }

  private val bad = Table(
    ("value", "message holds"),
    ("{", "It cannot be read"),
    ("""{"orders": "latest"} x""", "It cannot be read"),
    ("""{"orders": "latest", "orders": "latest"}""", "Duplicate field 'orders'"),
    (
      s"""{"orders": {"*": "latest", "${one.name}": "latest", "${one.name}": "latest"}}""",
      s"Duplicate field '${one.name}'"
    ),
    ("{}", "Say in it where stream orders begins"),
    ("""{"orders": "latest", "refunds": "latest"}""", "no 'refunds' among orders"),
    (s"""{"$arn": "latest"}""", s"Stream '$arn' is 'orders' in the options"),
    ("""{"orders": 7}""", "Mend that of stream orders: 7."),
    ("""{"orders": ["latest"]}""", "Mend that of stream orders"),
    ("""{"orders": null}""", "Mend that of stream orders: null."),
    ("""{"orders": "newest"}""", "Mend 'newest' of stream orders"),
    ("""{"orders": "2026-01-02T03:04:05"}""", "An instant needs its zone."),
    ("""{"orders": {}}""", """Add "*" to stream orders"""),
    (s"""{"orders": {"${one.name}": "latest"}}""", """Add "*" to stream orders"""),
    ("""{"orders": {"*": {"at": "4966"}}}""", "A sequence number is one shard's"),
    ("""{"orders": {"*": "latest", "shard-1": "latest"}}""", "Mend 'shard-1' of stream orders"),
    (shards("4966"), s"Mend that of $one of stream orders: 4966."),
    (shards("\"soon\""), s"Mend 'soon' of $one of stream orders"),
    (shards("{}"), s"Mend that of $one of stream orders: {}."),
    (shards("""{"at": 4966}"""), "a sequence number in quotes"),
    (shards("""{"at": "49x"}"""), "a sequence number in quotes"),
    (shards("""{"from": "4966"}"""), """{"at": "digits"} or {"after": "digits"}"""),
    (shards("""{"at": "1", "after": "1"}"""), s"Mend that of $one"),
    (shards(s"""{"at": "$ofShard6"}"""), "is one of shard number 6")
  )

  test("what is wrong is refused by its place, with the reason") {
    forAll(bad) { (value, text) =>
      val e = intercept[OptionException](parse(value))
      assert(e.condition === InvalidOption && e.getMessage.contains("'startingPosition'"))
      assert(e.getMessage.contains(text))
    }
  }

  test("streams by ARN are not named by name") {
    val named = Map("streamArn" -> arn.toString, "startingPosition" -> """{"orders": "latest"}""")
    val e = intercept[OptionException](SourceOptions.parse(named, None))
    assert(e.getMessage.contains(s"Stream 'orders' is '$arn' in the options"))
  }

  private def end(value: String) = SourceOptions.parse(
    Map("streamName" -> "orders", "endingPosition" -> value, "region" -> "eu-west-1"),
    None
  )

  test("an end is at a record, at an instant or now") {
    val upTo = EndingPosition.UpTo(number)
    val before = EndingPosition.Before(instant.instant)
    assert(
      end(shards("""{"at": "4966"}""")).batchEnd(orders) ===
        ByShard(EndingPosition.Latest, Map(one -> upTo))
    )
    assert(end("""{"orders": "2026-01-02T03:04:05Z"}""").batchEnd(orders) === ByShard(before))
    Seq(shards("""{"after": "4966"}"""), """{"orders": "trim_horizon"}""").foreach { value =>
      assert(intercept[OptionException](end(value)).getMessage.contains("'endingPosition'"))
    }
  }

  private val position: Gen[(String, StartingPosition)] = Gen.oneOf(
    Gen.const("\"latest\"" -> StartingPosition.Latest),
    Gen.const("\"trim_horizon\"" -> StartingPosition.TrimHorizon),
    instant(StartingPosition.AtTimestamp(_))
  )

  private def instant(of: Instant => StartingPosition) =
    sparkkinesis.Generators.instant.map(at => s"\"$at\"" -> of(at))

  private val numbered: Gen[(String, StartingPosition)] =
    sequenceNumber.filter(_.shardNumber.isEmpty).flatMap { number =>
      Gen.oneOf(
        s"""{"at": "$number"}""" -> StartingPosition.At(number),
        s"""{"after": "$number"}""" -> StartingPosition.After(number)
      )
    }

  test("whatever positions shards have, each is read as it was written") {
    val each = Gen.mapOf(Gen.zip(Gen.choose(0, 99), Gen.oneOf(position, numbered)))
    forAll(each, position) { (named, others) =>
      val entries = named.map { case (id, (json, _)) => s""""${shardId(id)}": $json""" }
      val json = (entries.toSeq :+ s""""*": ${others._1}""").mkString("""{"orders": {""", ",", "}}")
      assert(new ObjectMapper().readTree(json).isObject)
      val read = parse(json).queryStart(orders)
      assert(read.others === others._2)
      assert(read.named === named.map { case (id, (_, meaning)) => shardId(id) -> meaning })
    }
  }

  test("a number tells its shard only where it has the service's layout") {
    assert(SequenceNumber(ofShard6).shardNumber === Some(6))
    Seq("4966", "0", "9" * 56, ofShard6.updated(55, '9')).foreach { text =>
      assert(SequenceNumber(text).shardNumber === None)
    }
  }
}
