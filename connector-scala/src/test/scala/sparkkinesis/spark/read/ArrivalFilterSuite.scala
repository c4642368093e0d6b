package sparkkinesis.spark.read

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.connector.expressions.filter.{And, Or, Predicate}
import org.apache.spark.sql.connector.expressions.{Expression, Expressions, Literal}
import org.apache.spark.sql.types.{DataType, LongType, StringType, TimestampType}
import org.apache.spark.unsafe.types.UTF8String

import sparkkinesis.source.replay.ReadBounds

class ArrivalFilterSuite extends AnyFunSuite {
  private val arrival = Expressions.column("approximateArrivalTimestamp")

  private def predicate(operator: String, sides: Expression*) =
    new Predicate(operator, sides.toArray)
  private def literal(it: Any, of: DataType): Expression = new Literal[Any] {
    override def value: Any = it
    override def dataType: DataType = of
  }
  private def time(micros: Long) = literal(micros, TimestampType)
  private def text(value: String) = literal(UTF8String.fromString(value), StringType)

  private val compare = Map[String, (Long, Long) => Boolean](
    ">" -> (_ > _),
    ">=" -> (_ >= _),
    "<" -> (_ < _),
    "<=" -> (_ <= _),
    "=" -> (_ == _)
  )

  private def includes(bounds: ReadBounds, millis: Long) =
    bounds.sinceMillis.forall(_ <= millis) && bounds.beforeMillis.forall(millis < _)

  test(
    "a filter has exactly the milliseconds that match the comparison, in either order of its sides"
  ) {
    val flipped = Map(">" -> "<", ">=" -> "<=", "<" -> ">", "<=" -> ">=", "=" -> "=")
    for {
      (operator, holds) <- compare
      micros <- -2500L to 2500L by 250
      millis <- -4L to 4L
    } {
      val bounds = Seq(
        predicate(operator, arrival, time(micros)),
        predicate(flipped(operator), time(micros), arrival)
      ).map(ArrivalFilter.bounds(_))
      assert(bounds.distinct.size === 1)
      assert(includes(bounds.head, millis) === holds(millis * 1000, micros))
    }
  }

  test("both sides of an AND narrow the filter, and one of them is enough") {
    val since = predicate(">=", arrival, time(1000))
    val before = predicate("<", arrival, time(9000))
    val other = predicate(">", Expressions.column("subSequenceNumber"), literal(3L, LongType))
    assert(
      ArrivalFilter.bounds(new And(since, before)) ===
        ReadBounds(Some(1), Some(9), None, None)
    )
    assert(ArrivalFilter.bounds(new And(since, other)) === ArrivalFilter.bounds(since))
  }

  test("a filter may name shards and streams") {
    val shard = Expressions.column("shardId")
    val in = predicate("IN", shard, text("a"), text("b"))
    assert(ArrivalFilter.bounds(in) === ReadBounds(shards = Some(Set("a", "b"))))
    val both = new And(in, predicate("=", text("b"), shard))
    assert(ArrivalFilter.bounds(both).shards === Some(Set("b")))
    val stream = predicate("=", Expressions.column("stream"), text("orders"))
    assert(
      ArrivalFilter.bounds(stream) === ReadBounds(streams = Some(Set("orders")))
    )
  }

  test("other predicates do not narrow the filter") {
    val since = predicate(">=", arrival, time(1000))
    Seq[Predicate](
      new Or(since, since),
      predicate("<>", arrival, time(1)),
      predicate(">", arrival, literal(null, TimestampType)),
      predicate(">", Expressions.column("shardId"), text("a")),
      predicate("=", Expressions.column("a.shardId"), text("a")),
      predicate("IN", Expressions.column("shardId"), text("a"), arrival),
      predicate("IS_NOT_NULL", arrival)
    ).foreach(one => assert(ArrivalFilter.bounds(one) === ReadBounds()))
  }
}
