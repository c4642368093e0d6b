package sparkkinesis.source.position

import java.time.Instant

import com.fasterxml.jackson.databind.ObjectMapper
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.Generators._
import sparkkinesis.client.options.OptionException
import sparkkinesis.client.options.OptionException.InvalidOption
import sparkkinesis.model.{Position, SequenceNumber, StreamName, StreamRef}
import sparkkinesis.source.options.SourceOptions

/** Positions in JSON: what they mean, and what is refused with which reason. */
class PositionParserSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val orders = StreamRef.ByName(StreamName("orders"))
  private val refunds = StreamRef.ByName(StreamName("refunds"))
  private val one = shardId(1)

  /** A sequence number of the service, from shard 6. */
  private val ofShard6 = "49590338271490256608559692538361571095921575989136588898"

  private def parse(start: String, streams: String = "orders") = SourceOptions.parse(
    Map("streamName" -> streams, "startingPosition" -> start, "region" -> "eu-west-1"),
    None
  )

  private def shards(value: String, others: String = "\"latest\"") =
    s"""{"orders": {"${one.name}": $value, "*": $others}}"""

  private def meaning(position: Position) =
    Map(orders -> ByShard(Position.Latest, Map(one -> position)))

  private val instant = Position.AtTimestamp(Instant.parse("2026-01-02T03:04:05Z"))
  private val number = SequenceNumber("4966")

  private val good = Table[String, Map[_ <: StreamRef, ByShard[Position]]](
    ("value", "meaning"),
    ("""{"orders": "latest"}""", Map(orders -> ByShard(Position.Latest))),
    (""" {"orders":"EARLIEST"} """, Map(orders -> ByShard(Position.TrimHorizon))),
    ("""{"orders": "2026-01-02T03:04:05Z"}""", Map(orders -> ByShard(instant))),
    ("""{"orders": {"*": "2026-01-02T05:04:05+02:00"}}""", Map(orders -> ByShard(instant))),
    (shards("\"trim_horizon\""), meaning(Position.TrimHorizon)),
    (shards("\"2026-01-02T03:04:05Z\""), meaning(instant)),
    (shards("""{"at": "4966"}"""), meaning(Position.AtSequenceNumber(number))),
    (shards("""{"after": "4966"}"""), meaning(Position.AfterSequenceNumber(number)))
  )

  test("positions in JSON are parsed") {
    forAll(good)((value, meaning) => assert(parse(value).start === Some(meaning)))
  }

  test("each stream starts at its own position, by name or by ARN") {
    val start = parse("""{"refunds": "trim_horizon", "orders": "latest"}""", "orders,refunds")
    assert(start.queryStart(orders).others === Position.Latest)
    assert(start.batchStart(refunds).others === Position.TrimHorizon)
    val json = s"""{"$arn": "trim_horizon"}"""
    val byArn =
      SourceOptions.parse(Map("streamArn" -> arn.toString, "startingPosition" -> json), None)
    assert(byArn.queryStart(stream).others === Position.TrimHorizon)
  }

  test("a stream may have the name of the key of a lease table") {
    val stream = StreamRef.ByName(StreamName("kclTable"))
    val start = parse("""{"kclTable": "trim_horizon"}""", "kclTable").queryStart(stream)
    assert(start.others === Position.TrimHorizon)
  }

  private val bad = Table(
    ("value", "message holds"),
    ("{", "not valid JSON"),
    ("""{"orders": "latest"} x""", "not valid JSON"),
    ("""{"orders": "latest", "orders": "latest"}""", "Duplicate field 'orders'"),
    (
      s"""{"orders": {"*": "latest", "${one.name}": "latest", "${one.name}": "latest"}}""",
      s"Duplicate field '${one.name}'"
    ),
    ("{}", "Add a position for stream orders"),
    ("""{"orders": "latest", "refunds": "latest"}""", "reads orders, but not 'refunds'"),
    ("""{"kclTable": "app"}""", "Run 'spark-kinesis migrate kcl', which writes a checkpoint"),
    ("""{"orders": "latest", "kclTable": "app"}""", "Run 'spark-kinesis migrate kcl'"),
    (s"""{"$arn": "latest"}""", s"The options name stream '$arn' as 'orders'"),
    ("""{"orders": 7}""", "Fix the position of stream orders: 7."),
    ("""{"orders": ["latest"]}""", "Fix the position of stream orders"),
    ("""{"orders": null}""", "Fix the position of stream orders: null."),
    ("""{"orders": "newest"}""", "Fix 'newest' of stream orders"),
    ("""{"orders": "2026-01-02T03:04:05"}""", "An instant needs its time zone."),
    ("""{"orders": {}}""", """Add "*" to stream orders"""),
    (s"""{"orders": {"${one.name}": "latest"}}""", """Add "*" to stream orders"""),
    ("""{"orders": {"*": {"at": "4966"}}}""", "valid in one shard only"),
    ("""{"orders": {"*": "latest", "shard-1": "latest"}}""", "Fix 'shard-1' of stream orders"),
    (shards("4966"), s"Fix the position of $one of stream orders: 4966."),
    (shards("\"soon\""), s"Fix 'soon' of $one of stream orders"),
    (shards("{}"), s"Fix the position of $one of stream orders: {}."),
    (shards("""{"at": 4966}"""), "a sequence number in quotes"),
    (shards("""{"at": "49x"}"""), "a sequence number in quotes"),
    (shards("""{"from": "4966"}"""), """{"at": "digits"} or {"after": "digits"}"""),
    (shards("""{"at": "1", "after": "1"}"""), s"Fix the position of $one"),
    (shards(s"""{"at": "$ofShard6"}"""), "belongs to shard number 6")
  )

  test("an invalid position is refused, and the error has its place and the reason") {
    forAll(bad) { (value, text) =>
      val e = intercept[OptionException](parse(value))
      assert(e.condition === InvalidOption && e.getMessage.contains("'startingPosition'"))
      assert(e.getMessage.contains(text))
    }
  }

  test("a stream that the options name by ARN cannot be named by name in a position") {
    val named = Map("streamArn" -> arn.toString, "startingPosition" -> """{"orders": "latest"}""")
    val e = intercept[OptionException](SourceOptions.parse(named, None))
    assert(e.getMessage.contains(s"The options name stream 'orders' as '$arn'"))
  }

  private def end(value: String) = SourceOptions.parse(
    Map("streamName" -> "orders", "endingPosition" -> value, "region" -> "eu-west-1"),
    None
  )

  test("an end is at a record, at an instant, or now") {
    val upTo = Position.AfterSequenceNumber(number)
    val before = Position.AtTimestamp(instant.instant)
    assert(
      end(shards("""{"at": "4966"}""")).batchEnd(orders) ===
        ByShard(Position.Latest, Map(one -> upTo))
    )
    assert(end("""{"orders": "2026-01-02T03:04:05Z"}""").batchEnd(orders) === ByShard(before))
    Seq(shards("""{"after": "4966"}"""), """{"orders": "trim_horizon"}""").foreach { value =>
      assert(intercept[OptionException](end(value)).getMessage.contains("'endingPosition'"))
    }
  }

  private val position: Gen[(String, Position)] = Gen.oneOf(
    Gen.const("\"latest\"" -> Position.Latest),
    Gen.const("\"trim_horizon\"" -> Position.TrimHorizon),
    instant(Position.AtTimestamp(_))
  )

  private def instant(of: Instant => Position) =
    sparkkinesis.Generators.instant.map(at => s"\"$at\"" -> of(at))

  private val numbered: Gen[(String, Position)] =
    sequenceNumber.filter(_.shardNumber.isEmpty).flatMap { number =>
      Gen.oneOf(
        s"""{"at": "$number"}""" -> Position.AtSequenceNumber(number),
        s"""{"after": "$number"}""" -> Position.AfterSequenceNumber(number)
      )
    }

  test("any positions of shards are parsed as they were written") {
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

  test("a sequence number names its shard only if it has the service's layout") {
    assert(SequenceNumber(ofShard6).shardNumber === Some(6))
    Seq("4966", "0", "9" * 56, ofShard6.updated(55, '9')).foreach { text =>
      assert(SequenceNumber(text).shardNumber === None)
    }
  }
}
