package sparkkinesis.spark.read

import org.apache.spark.sql.connector.expressions.filter.{And, Predicate}
import org.apache.spark.sql.connector.expressions.{Expression, Literal, NamedReference}
import org.apache.spark.sql.types.{StringType, TimestampType}
import org.apache.spark.unsafe.types.UTF8String

import sparkkinesis.compat._
import sparkkinesis.source.replay.ReadBounds

/**
 * Limits on arrival time, shard and stream in a filter of Spark. Spark also filters the rows
 * itself.
 */
private[spark] object ArrivalFilter {
  private val MicrosPerMilli = 1000L
  private val Flipped = Map(">" -> "<", ">=" -> "<=", "<" -> ">", "<=" -> ">=", "=" -> "=")

  /** `None` if the predicate does not limit a read. */
  def bounds(predicate: Predicate): Option[ReadBounds] = predicate match {
    case both: And =>
      val sides = bounds(both.left) ++ bounds(both.right)
      sides.reduceOption(_ and _)
    case other =>
      other.children.toSeq match {
        case Seq(Column(name), Value(value)) => compared(name, other.name, Seq(value))
        case Seq(Value(value), Column(name)) =>
          Flipped.get(other.name).flatMap(compared(name, _, Seq(value)))
        case Column(name) +: values if other.name == "IN" =>
          val read = values.collect { case Value(value) => value }
          Option.when(read.size == values.size)(read).flatMap(compared(name, "IN", _))
        case _ => None
      }
  }

  private def compared(column: String, operator: String, values: Seq[Any]): Option[ReadBounds] =
    (column, operator, values) match {
      case ("approximateArrivalTimestamp", _, Seq(micros: Long)) => times(operator, micros)
      case ("shardId", "=" | "IN", names) =>
        Some(ReadBounds.None.copy(shards = Some(names.map(_.toString).toSet)))
      case ("stream", "=" | "IN", names) =>
        Some(ReadBounds.None.copy(streams = Some(names.map(_.toString).toSet)))
      case _ => None
    }

  /** Kinesis gives arrival times in whole milliseconds. */
  private def times(operator: String, micros: Long): Option[ReadBounds] = {
    val notBefore = -Math.floorDiv(-micros, MicrosPerMilli)
    val behind = Math.floorDiv(micros, MicrosPerMilli) + 1
    operator match {
      case ">=" => Some(ReadBounds.None.copy(sinceMillis = Some(notBefore)))
      case ">" => Some(ReadBounds.None.copy(sinceMillis = Some(behind)))
      case "<" => Some(ReadBounds.None.copy(beforeMillis = Some(notBefore)))
      case "<=" => Some(ReadBounds.None.copy(beforeMillis = Some(behind)))
      case "=" =>
        Some(ReadBounds.None.copy(sinceMillis = Some(notBefore), beforeMillis = Some(behind)))
      case _ => None
    }
  }

  private object Column {
    def unapply(expression: Expression): Option[String] = expression match {
      case reference: NamedReference if reference.fieldNames.length == 1 =>
        Some(reference.fieldNames.head)
      case _ => None
    }
  }

  private object Value {
    def unapply(expression: Expression): Option[Any] = expression match {
      case literal: Literal[_] =>
        (literal.dataType, literal.value) match {
          case (TimestampType, micros: Long) => Some(micros)
          case (StringType, text: UTF8String) => Some(text)
          case _ => None
        }
      case _ => None
    }
  }
}
