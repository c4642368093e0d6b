package sparkkinesis.spark

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import sparkkinesis.model.HashKey

class RowRecordSuite extends AnyFunSuite {
  private val schema = new StructType()
    .add("data", BinaryType)
    .add("partitionKey", StringType)
    .add("explicitHashKey", StringType)

  private def text(value: String) = UTF8String.fromString(value)

  private def entry(data: Any, key: Any, hashKey: Any = null, max: Int = 100) =
    RowRecord.of(schema).entry(InternalRow(data, key, hashKey), max)

  test("a row becomes a record") {
    val bytes = Array[Byte](1, 2)
    val record = entry(bytes, text("k"), text("7")).toOption.get
    assert(record.data === bytes)
    assert(record.partitionKey === "k")
    assert(record.explicitHashKey === Some(HashKey(7)))
    assert(entry(bytes, text("k")).toOption.get.explicitHashKey === None)
    assert(entry(Array.emptyByteArray, text("k")).isRight)
  }

  test("columns stand in any order and case; a string is written as UTF-8") {
    val other = new StructType().add("PARTITIONKEY", StringType).add("Data", StringType)
    val record = RowRecord.of(other).entry(InternalRow(text("k"), text("é")), 100).toOption.get
    assert(record.data === Array(0xc3.toByte, 0xa9.toByte))
    assert(record.partitionKey === "k")
  }

  private val bytes = Array[Byte](1)
  private val badRows = Table[Any, Any, Any, String](
    ("data", "key", "hash key", "reason"),
    (null, text("k"), null, "column 'data' is null"),
    (bytes, null, null, "column 'partitionKey' is null"),
    (bytes, text(""), null, "column 'partitionKey' is empty"),
    (bytes, text("k" * 257), null, "column 'partitionKey' has 257 characters"),
    (bytes, text("k"), text("-1"), "column 'explicitHashKey' is '-1'"),
    (bytes, text("k"), text((BigInt(1) << 128).toString), "column 'explicitHashKey' is '3402"),
    (bytes, text("k"), text(""), "column 'explicitHashKey' is ''")
  )

  test("a row that is no record is refused with column and reason") {
    forAll(badRows) { (data, key, hashKey, reason) =>
      assert(entry(data, key, hashKey, max = 10000).left.exists(_.startsWith(reason)))
    }
  }

  test("256 characters of a key are allowed, however many bytes they are") {
    assert(entry(bytes, text("é" * 256), max = 10000).isRight)
    assert(entry(bytes, text("🔑" * 256), max = 10000).isRight)
  }

  test("the limit counts data and key in UTF-8, to the byte") {
    assert(entry(new Array[Byte](98), text("é")).isRight)
    val refused = entry(new Array[Byte](99), text("é"))
    assert(refused.left.exists(_.contains("take 101 bytes, the stream allows 100")))
    assert(entry(new Array[Byte](99), text("e")).isRight)
  }

  private val badSchemas = Table(
    ("columns", "message holds"),
    (new StructType().add("partitionKey", StringType), "Column 'data' (binary or string)"),
    (new StructType().add("data", BinaryType), "Column 'partitionKey' (string) is missing"),
    (schema.add("when", TimestampType).add("n", LongType), "column 'when', 'n'"),
    (
      new StructType().add("data", IntegerType).add("partitionKey", StringType),
      "Column 'data' is int: expected binary or string"
    ),
    (
      new StructType().add("data", StringType).add("partitionKey", LongType),
      "Column 'partitionKey' is bigint: expected string"
    ),
    (
      new StructType()
        .add("data", StringType)
        .add("partitionKey", StringType)
        .add("explicitHashKey", DecimalType(38, 0)),
      "Column 'explicitHashKey' is decimal(38,0): expected string"
    ),
    (schema.add("DATA", BinaryType), "Column 'data' is there 2 times")
  )

  test("columns that make no record are refused when the write is planned") {
    forAll(badSchemas) { (columns, message) =>
      val e = intercept[ConnectorError](RowRecord.of(columns))
      assert(e.getCondition === "KINESIS_INVALID_SCHEMA")
      assert(e.getMessage.contains(message))
    }
  }
}
