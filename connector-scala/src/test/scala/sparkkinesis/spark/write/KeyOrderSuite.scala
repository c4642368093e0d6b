package sparkkinesis.spark.write

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks._

import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._

import sparkkinesis.spark.errors.ConnectorError

class KeyOrderSuite extends AnyFunSuite {
  private val rows = new StructType()
    .add("data", BinaryType)
    .add("PartitionKey", StringType)
    .add("at", TimestampType)
    .add("odd.`name", IntegerType)
    .add("tags", MapType(StringType, StringType))

  private def of(orderBy: Option[String], schema: StructType = rows) =
    KeyOrder.of(schema, orderBy, isOrdered = true)

  private def withCase[A](isSensitive: Boolean)(use: => A): A = {
    val conf = new SQLConf
    conf.setConf(SQLConf.CASE_SENSITIVE, isSensitive)
    SQLConf.withExistingConf(conf)(use)
  }

  test("columns keep the spelling that they have in the rows") {
    assert(of(None) === KeyOrder("PartitionKey", None))
    assert(of(Some("at")) === KeyOrder("PartitionKey", Some("at")))
    assert(of(Some("odd.`name")) === KeyOrder("PartitionKey", Some("odd.`name")))
  }

  test("column names are case-sensitive exactly if the session's queries are") {
    assert(withCase(isSensitive = false)(of(Some("AT"))).by === Some("at"))
    intercept[ConnectorError](withCase(isSensitive = true)(of(Some("AT"))))
    val both = rows.add("AT", IntegerType)
    assert(withCase(isSensitive = true)(of(Some("AT"), both)).by === Some("AT"))
    val twice = intercept[ConnectorError](withCase(isSensitive = false)(of(Some("At"), both)))
    assert(twice.getMessage.contains("Option 'orderBy' is 'At', and the rows have 2 such columns."))
  }

  test("rows that cannot be ordered are refused, and the error has the column and the remedy") {
    val wrong = Table(
      ("schema", "orderBy", "said"),
      (rows, "when", "Option 'orderBy' is 'when', but the rows have no such column: data, Partit"),
      (rows, "tags", "Column 'tags' is map<string,string>, which has no order"),
      (
        new StructType().add("data", BinaryType).add("at", TimestampType),
        "at",
        "Option 'ordering' is perKey, and column 'partitionKey' (string) is missing"
      )
    )
    forAll(wrong) { (schema, orderBy, said) =>
      val e = intercept[ConnectorError](of(Some(orderBy), schema))
      assert(e.getCondition === "KINESIS_INVALID_SCHEMA" && e.getMessage.contains(said))
    }
  }
}
