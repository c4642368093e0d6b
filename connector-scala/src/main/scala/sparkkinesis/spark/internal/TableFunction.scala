package org.apache.spark.sparkkinesis

import java.util.Locale

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.analysis.{UnresolvedFunction, UnresolvedTableValuedFunction}
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal, NamedArgumentExpression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.UNRESOLVED_TABLE_VALUED_FUNCTION
import org.apache.spark.sql.types.{BooleanType, NumericType, StringType}

/**
 * A function in the `FROM` of a query, whose rows are those of a `DataFrame`.
 *
 * Spark's interface for such functions does not say whether the query has the keyword `STREAM`.
 * Therefore this is a rule that sees the parsed query. Spark 4.2 parses `STREAM f(...)` and
 * `STREAM(f(...))`. Older versions parse only the second form, as a function `stream` with the
 * argument `f(...)`.
 *
 * @param isOurs whether this is the function with that name, in lower case
 * @param read makes the `DataFrame` of the arguments: streaming, if the flag is true
 */
final class TableFunction(
    isOurs: String => Boolean,
    read: (Seq[TableFunction.Argument], Boolean) => DataFrame
) extends Rule[LogicalPlan] {
  import TableFunction._

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.resolveOperatorsUpWithPruning(_.containsPattern(UNRESOLVED_TABLE_VALUED_FUNCTION)) {
      case Call(called, arguments, isStreaming) if isOurs(called) =>
        read(arguments.map(argument), isStreaming).queryExecution.logical
    }
}

object TableFunction {

  /** @throws java.lang.LinkageError if this Spark lacks a class that the rule needs */
  def requireClasses(): Unit = Seq[Any](
    classOf[TableFunction],
    classOf[UnresolvedFunction],
    classOf[NamedArgumentExpression],
    UNRESOLVED_TABLE_VALUED_FUNCTION
  ): Unit

  /**
   * @param name if it is passed by name
   * @param value if it is a string, a number or a boolean
   */
  final case class Argument(name: Option[String], value: Option[String])

  /** Name and arguments of a function in `FROM`, and whether `STREAM` stands before it. */
  private object Call {
    def unapply(plan: LogicalPlan): Option[(String, Seq[Expression], Boolean)] = plan match {
      case f: UnresolvedTableValuedFunction =>
        (lower(f.name), f.functionArgs) match {
          case ("stream", Seq(inner: UnresolvedFunction)) =>
            Some((lower(inner.nameParts), inner.arguments, true))
          case (name, arguments) => Some((name, arguments, f.isStreaming))
        }
      case _ => None
    }

    private def lower(parts: Seq[String]) = parts.mkString(".").toLowerCase(Locale.ROOT)
  }

  private def argument(passed: Expression): Argument = passed match {
    case NamedArgumentExpression(name, value) => Argument(Some(name), literal(value))
    case value => Argument(None, literal(value))
  }

  private def literal(passed: Expression): Option[String] = passed match {
    case Literal(value, _: StringType | _: NumericType | BooleanType) =>
      Option(value).map(_.toString)
    case _ => None
  }
}
