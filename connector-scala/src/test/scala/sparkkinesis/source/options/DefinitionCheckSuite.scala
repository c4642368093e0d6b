package sparkkinesis.source.options

import java.time.Instant

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks._

import sparkkinesis.Generators._
import sparkkinesis.client.StreamAccess
import sparkkinesis.client.options.OptionException
import sparkkinesis.model.{SequenceNumber, Shard}

/** The positions that `load()` refuses although their syntax is correct. */
class DefinitionCheckSuite extends AnyFunSuite {
  private val now = Instant.parse("2026-01-02T03:04:05Z")

  /** Shards 2 and 3: what came before has expired. 2 ended with number 2999. */
  private val listed = newStream(4).drop(2).map(_.copy(parents = Nil)) match {
    case Vector(two, three) => Vector(two.copy(last = Some(SequenceNumber("2999999"))), three)
    case other => other
  }

  private def check(options: (String, String)*)(list: StreamAccess => Seq[Shard]): Unit = {
    val named = Map("streamName" -> "orders", "region" -> "eu-west-1")
    new DefinitionCheck(SourceOptions.parse(named ++ options, None), now).check(list)
  }

  private def shard(number: Int, value: String) =
    s"""{"orders": {"${shardId(number)}": $value, "*": "latest"}}"""

  private val refused = Table(
    ("option", "value", "message holds"),
    ("startingPosition", "2026-01-02T03:05:05.001Z", "is in the future: the time is"),
    ("endingPosition", "2026-01-02T03:05:05.001Z", "is in the future: the time is"),
    (
      "startingPosition",
      """{"orders": "2027-01-01T00:00:00Z"}""",
      "for stream orders, which is in"
    ),
    ("startingPosition", shard(2, "\"2027-01-01T00:00:00Z\""), "in the future"),
    ("startingPosition", shard(4, "\"latest\""), "does not list: the shard never existed"),
    ("endingPosition", shard(7, "\"latest\""), "The newest shard is number 3"),
    (
      "startingPosition",
      shard(2, """{"at": "1999999"}"""),
      "its sequence numbers begin at 2000000"
    ),
    (
      "startingPosition",
      shard(2, """{"after": "3000000"}"""),
      "its sequence numbers end at 2999999"
    ),
    ("endingPosition", shard(3, """{"at": "2999999"}"""), "its sequence numbers begin at 3000000")
  )

  test("an invalid position is refused, and the error has option, place and reason") {
    forAll(refused) { (option, value, text) =>
      val e = intercept[OptionException](check(option -> value)(_ => listed))
      assert(e.condition === OptionException.InvalidOption)
      assert(e.getMessage.contains(s"'$option'") && e.getMessage.contains(text))
    }
  }

  private val orders = Table(
    ("start", "end"),
    ("2026-01-02T00:00:00Z", "2026-01-01T23:59:59Z"),
    (shard(2, """{"at": "2000009"}"""), shard(2, """{"at": "2000008"}""")),
    ("2026-01-02T00:00:00Z", shard(2, "\"2026-01-01T00:00:00Z\""))
  )

  test("an end before its start is refused") {
    forAll(orders) { (start, end) =>
      val e = intercept[OptionException] {
        check("startingPosition" -> start, "endingPosition" -> end)(_ => listed)
      }
      assert(e.getMessage.contains("'endingPosition'") && e.getMessage.contains("before its start"))
    }
  }

  private val taken = Table(
    ("start", "why"),
    ("2026-01-02T03:05:05Z", "clocks differ"),
    (shard(1, """{"after": "1000007"}"""), "it may have expired since the query began"),
    (shard(2, """{"at": "2000000"}"""), "the shard's first"),
    (shard(2, """{"after": "2999999"}"""), "the shard's last"),
    (shard(3, """{"after": "99999999"}"""), "an open shard has no last")
  )

  test("valid positions are accepted") {
    forAll(taken)((start, _) => check("startingPosition" -> start)(_ => listed))
  }

  test("an end of a shard that lies before its beginning is ignored") {
    val odd = listed.map(_.copy(last = Some(SequenceNumber("7"))))
    check("startingPosition" -> shard(2, """{"after": "3000000"}"""))(_ => odd)
  }

  test("the service is called once if the options name shards, and not at all otherwise") {
    var asked = 0
    val list = (_: StreamAccess) => {
      asked += 1
      listed
    }
    check("startingPosition" -> "latest")(list)
    check("startingPosition" -> """{"orders": "trim_horizon"}""")(list)
    assert(asked === 0)
    check("startingPosition" -> shard(2, "\"latest\""), "endingPosition" -> shard(3, "\"latest\""))(
      list
    )
    assert(asked === 1)
  }
}
