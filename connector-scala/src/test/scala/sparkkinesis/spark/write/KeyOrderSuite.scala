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

  private def of(orderBy: Option[String], schema: StructType = rows) = KeyOrder.of(schema, orderBy)

  private def withCase[A](isSensitive: Boolean)(use: => A): A = {
    val conf = new SQLConf
    conf.setConf(SQLConf.CASE_SENSITIVE, isSensitive)
    SQLConf.withExistingConf(conf)(use)
  }

  test("columns are told by their names in the rows") {
    assert(of(None) === KeyOrder("PartitionKey", None))
    assert(of(Some("at")) === KeyOrder("PartitionKey", Some("at")))
    assert(of(Some("odd.`name")) === KeyOrder("PartitionKey", Some("odd.`name")))
  }

  test("case counts where it counts in the session's queries") {
    assert(withCase(isSensitive = false)(of(Some("AT"))).by === Some("at"))
    intercept[ConnectorError](withCase(isSensitive = true)(of(Some("AT"))))
    val both = rows.add("AT", IntegerType)
    assert(withCase(isSensitive = true)(of(Some("AT"), both)).by === Some("AT"))
    val twice = intercept[ConnectorError](withCase(isSensitive = false)(of(Some("At"), both)))
    assert(twice.getMessage.contains("Option 'orderBy' is 'At', and the rows have 2 such columns."))
  }

  test("what cannot be ordered is refused with the column and what to do") {
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
