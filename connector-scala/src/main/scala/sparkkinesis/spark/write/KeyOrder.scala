package sparkkinesis.spark.write

import org.apache.spark.sql.catalyst.expressions.RowOrdering
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType

import sparkkinesis.spark.errors.ConnectorError

/**
 * The columns that decide the order of the write, by their names in the rows.
 *
 * @param by column to sort by; without it, rows keep the order in which Spark passes them
 */
private[spark] final case class KeyOrder(partitionKey: String, by: Option[String])

private[spark] object KeyOrder {

  /**
   * @param orderBy option `orderBy`, as the user wrote it
   * @param isOrdered whether the write is ordered; otherwise it is exactly once
   * @throws ConnectorError if a column is missing or cannot be sorted
   */
  def of(schema: StructType, orderBy: Option[String], isOrdered: Boolean): KeyOrder = {
    val key = schema.fieldNames.find(_.equalsIgnoreCase("partitionKey")).getOrElse {
      throw invalid(if (isOrdered) NoOrder else NoIdentity)
    }
    KeyOrder(key, orderBy.map(sorted(schema, _)))
  }

  private val NoOrder =
    "Option 'ordering' is perKey, and column 'partitionKey' (string) is missing: random keys " +
      "have no order. Add the column to the rows, or set 'ordering' to none."

  private val NoIdentity =
    "Option 'deliveryGuarantee' is exactlyOnce, and column 'partitionKey' (string) is missing: a " +
      "row with a random key cannot be found again. Add the column to the rows, or set the " +
      "option to atLeastOnce."

  /** Finds columns by the case sensitivity of the session. */
  private def sorted(schema: StructType, name: String): String = {
    val found = schema.fields.filter(field => SQLConf.get.resolver(field.name, name))
    found.toSeq match {
      case Seq(field) if RowOrdering.isOrderable(field.dataType) => field.name
      case Seq(field) =>
        throw invalid(
          s"Column '${field.name}' is ${field.dataType.simpleString}, which has no order. Set " +
            "option 'orderBy' to a column that can be sorted, such as a number, a string or a " +
            "timestamp."
        )
      case Seq() =>
        throw invalid(
          s"Option 'orderBy' is '$name', but the rows have no such column: " +
            s"${schema.fieldNames.mkString(", ")}. Add it to the rows; the sink does not send it."
        )
      case several =>
        throw invalid(
          s"Option 'orderBy' is '$name', and the rows have ${several.size} such columns. Select " +
            "one."
        )
    }
  }

  private def invalid(text: String): ConnectorError = ConnectorError(RowRecord.InvalidSchema, text)
}
