package sparkkinesis.spark.read

import org.apache.spark.sql.connector.expressions.filter.{And, Predicate}
import org.apache.spark.sql.connector.expressions.{Expression, Literal, NamedReference}
import org.apache.spark.sql.types.{StringType, TimestampType}
import org.apache.spark.unsafe.types.UTF8String

import sparkkinesis.source.replay.ReadBounds

/**
 * Limits on arrival time, shard and stream in a filter of Spark. Spark also filters the rows
 * itself.
 */
private[spark] object ArrivalFilter {
  private val MicrosPerMilli = 1000L
  private val Flipped = Map(">" -> "<", ">=" -> "<=", "<" -> ">", "<=" -> ">=", "=" -> "=")

  /** No bounds if the predicate does not limit a read. */
  def bounds(predicate: Predicate): ReadBounds = predicate match {
    case both: And => bounds(both.left) and bounds(both.right)
    case other =>
      other.children.toSeq match {
        case Seq(Column(name), Value(value)) => compared(name, other.name, Seq(value))
        case Seq(Value(value), Column(name)) =>
          Flipped.get(other.name).fold(ReadBounds())(compared(name, _, Seq(value)))
        case Column(name) +: values if other.name == "IN" =>
          val read = values.collect { case Value(value) => value }
          if (read.size == values.size) compared(name, "IN", read) else ReadBounds()
        case _ => ReadBounds()
      }
  }

  private def compared(column: String, operator: String, values: Seq[Any]): ReadBounds =
    (column, operator, values) match {
      case ("approximateArrivalTimestamp", _, Seq(micros: Long)) => times(operator, micros)
      case ("shardId", "=" | "IN", names) =>
        ReadBounds(shards = Some(names.map(_.toString).toSet))
      case ("stream", "=" | "IN", names) =>
        ReadBounds(streams = Some(names.map(_.toString).toSet))
      case _ => ReadBounds()
    }

  /** Kinesis gives arrival times in whole milliseconds. */
  private def times(operator: String, micros: Long): ReadBounds = {
    val notBefore = Some(-Math.floorDiv(-micros, MicrosPerMilli))
    val behind = Some(Math.floorDiv(micros, MicrosPerMilli) + 1)
    operator match {
      case ">=" => ReadBounds(sinceMillis = notBefore)
      case ">" => ReadBounds(sinceMillis = behind)
      case "<" => ReadBounds(beforeMillis = notBefore)
      case "<=" => ReadBounds(beforeMillis = behind)
      case "=" => ReadBounds(sinceMillis = notBefore, beforeMillis = behind)
      case _ => ReadBounds()
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
