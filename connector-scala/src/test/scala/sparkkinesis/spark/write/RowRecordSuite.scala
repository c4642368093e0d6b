package sparkkinesis.spark.write

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import sparkkinesis.model.{HashKey, HashKeyRange}
import sparkkinesis.spark.errors.ConnectorError

class RowRecordSuite extends AnyFunSuite {
  private val schema = new StructType()
    .add("data", BinaryType)
    .add("partitionKey", StringType)
    .add("explicitHashKey", StringType)

  private def text(value: String) = UTF8String.fromString(value)

  /** A string with these bytes, as `cast(binary AS string)` makes it. */
  private def raw(bytes: Int*) = UTF8String.fromBytes(bytes.map(_.toByte).toArray)

  private def entry(data: Any, key: Any, hashKey: Any = null, max: Int = 100) =
    RowRecord.of(schema, needsKey = true).entry(InternalRow(data, key, hashKey), max, new Random(1))

  test("a row becomes a record with its data, key and hash key") {
    val bytes = Array[Byte](1, 2)
    val record = entry(bytes, text("k"), text("7")).toOption.get
    assert(record.data === bytes)
    assert(record.partitionKey === "k")
    assert(record.explicitHashKey === Some(HashKey(7)))
    assert(entry(bytes, text("k")).toOption.get.explicitHashKey === None)
  }

  test("data may be empty, as the service allows") {
    assert(entry(Array.emptyByteArray, text("k")).toOption.get.data.isEmpty)
  }

  test("columns may be in any order and case, and a string is written as UTF-8") {
    val other = new StructType().add("PARTITIONKEY", StringType).add("Data", StringType)
    val row = InternalRow(text("k"), text("é"))
    val record = RowRecord.of(other).entry(row, 100, new Random(1)).toOption.get
    assert(record.data === Array(0xc3.toByte, 0xa9.toByte))
    assert(record.partitionKey === "k")
  }

  private val bytes = Array[Byte](1)
  private val badRows = Table[Any, Any, Any, String, String](
    ("data", "key", "hash key", "reason", "text"),
    (null, text("k"), null, "NULL_DATA", "column 'data' is null"),
    (bytes, null, null, "NULL_PARTITION_KEY", "column 'partitionKey' is null"),
    (bytes, text(""), null, "EMPTY_PARTITION_KEY", "column 'partitionKey' is empty"),
    (
      bytes,
      text("k" * 257),
      null,
      "LONG_PARTITION_KEY",
      "column 'partitionKey' has 257 characters"
    ),
    (
      bytes,
      raw(0xfe),
      null,
      "INVALID_PARTITION_KEY",
      "column 'partitionKey' is not valid UTF-8: its first bytes are fe"
    ),
    (bytes, raw(0x61, 0xff), null, "INVALID_PARTITION_KEY", "column 'partitionKey' is not valid"),
    (bytes, raw(0xed, 0xa0, 0x80), null, "INVALID_PARTITION_KEY", "column 'partitionKey' is not"),
    (bytes, raw(Seq.fill(300)(0xff): _*), null, "INVALID_PARTITION_KEY", "column 'partitionKey'"),
    (bytes, text("k"), raw(0xfe), "BAD_HASH_KEY", "column 'explicitHashKey' is"),
    (bytes, text("k"), text("-1"), "BAD_HASH_KEY", "column 'explicitHashKey' is '-1'"),
    (
      bytes,
      text("k"),
      text((BigInt(1) << 128).toString),
      "BAD_HASH_KEY",
      "column 'explicitHashKey' is '3402"
    ),
    (bytes, text("k"), text(""), "BAD_HASH_KEY", "column 'explicitHashKey' is ''"),
    (
      new Array[Byte](10000),
      text("k"),
      null,
      "RECORD_TOO_LARGE",
      "columns 'data' and 'partitionKey' take 10001 bytes, and the stream allows 10000"
    )
  )

  test(
    "a row that cannot become a record is refused, and the error has the column and the " +
      "reason"
  ) {
    forAll(badRows) { (data, key, hashKey, reason, text) =>
      val why = entry(data, key, hashKey, max = 10000).left.toOption.get
      assert(why.reason === reason)
      assert(why.text.startsWith(text))
    }
  }

  test("a key may have 256 characters, however many bytes they need") {
    assert(entry(bytes, text("é" * 256), max = 10000).isRight)
    assert(entry(bytes, text("🔑" * 256), max = 10000).isRight)
  }

  test("a key that contains the replacement character itself is valid") {
    assert(entry(bytes, text("a\uFFFDb")).toOption.get.partitionKey === "a\uFFFDb")
  }

  test("the limit counts the bytes of data and key in UTF-8") {
    assert(entry(new Array[Byte](98), text("é")).isRight)
    assert(entry(new Array[Byte](99), text("é")) === Left(BadRow.TooLarge(101, 100)))
    assert(entry(new Array[Byte](99), text("e")).isRight)
  }

  private val keyless = RowRecord.of(new StructType().add("data", BinaryType))

  private val nullKey = RowRecord.of(schema) -> InternalRow(bytes, null, null)

  test("without a key, keys are random: 16 characters, all different, evenly over the shards") {
    Seq(keyless -> InternalRow(bytes), nullKey).foreach { case (columns, row) =>
      val random = new Random(7)
      val keys = Seq.fill(8000)(columns.entry(row, 100, random).toOption.get.partitionKey)
      assert(keys.forall(_.matches("[0-9a-f]{16}")) && keys.distinct.size === keys.size)
      HashKeyRange.even(8).foreach { shard =>
        assert(math.abs(keys.count(key => shard.contains(HashKey.of(key))) - 1000) < 150)
      }
    }
  }

  test("a random key counts towards the limit") {
    def allows(columns: RowRecord, bytes: Int) =
      columns.entry(InternalRow(new Array[Byte](bytes), null, null), 100, new Random(1)).isRight
    Seq(keyless, nullKey._1).foreach(it => assert(allows(it, 84) && !allows(it, 85)))
  }

  test("a dead letter has the values of the row unchanged") {
    val columns = RowRecord.of(schema.add("streamArn", StringType))
    val key = "k" * 257
    val row = InternalRow(bytes, text(key), text("7"), text("nowhere"))
    val letter = columns.letter(row, 3, BadRow.LongKey(257))
    assert(letter.stream === Some("nowhere") && letter.row === Some(3))
    assert(letter.reason === "LONG_PARTITION_KEY" && letter.message === BadRow.LongKey(257).text)
    assert(letter.data.get === bytes && letter.partitionKey === Some(key))
    assert(letter.explicitHashKey === Some("7"))
    val empty = columns.letter(InternalRow(null, null, null, null), 1, BadRow.NullData)
    assert((empty.data ++ empty.partitionKey ++ empty.explicitHashKey ++ empty.stream).isEmpty)
  }

  private def strings(names: String*) = names.foldLeft(new StructType)(_.add(_, StringType))

  private val badSchemas = Table(
    ("columns", "message holds"),
    (strings("partitionKey"), "Column 'data' (binary or string) is missing"),
    (schema.add("when", TimestampType).add("n", LongType), "column 'when', 'n'"),
    (strings().add("data", IntegerType), "Column 'data' is int: expected binary or string"),
    (
      strings().add("data", ArrayType(ByteType)),
      "Column 'data' is array<tinyint>: expected binary or string"
    ),
    (
      strings("data").add("partitionKey", LongType),
      "Column 'partitionKey' is bigint: expected string"
    ),
    (
      strings("data").add("partitionKey", BinaryType),
      "Column 'partitionKey' is binary: expected string"
    ),
    (
      strings("data").add("explicitHashKey", DecimalType(38, 0)),
      "Column 'explicitHashKey' is decimal(38,0): expected string"
    ),
    (strings("data").add("stream", IntegerType), "Column 'stream' is int: expected string"),
    (
      strings("data").add("streamArn", strings("x")),
      "Column 'streamArn' is struct<x:string>: expected string"
    ),
    (
      strings("data", "stream", "streamArn"),
      "The rows have both column 'stream' and column 'streamArn'"
    ),
    (schema.add("DATA", BinaryType), "The rows have 2 columns 'data'"),
    (strings("data", "stream", "Stream"), "The rows have 2 columns 'stream'")
  )

  test("columns that cannot become records are refused when the write is planned") {
    forAll(badSchemas) { (columns, message) =>
      val e = intercept[ConnectorError](RowRecord.of(columns))
      assert(e.getCondition === "KINESIS_INVALID_SCHEMA")
      assert(e.getMessage.contains(message))
    }
  }

  test("columns that the sink does not use may have any type") {
    val columns = schema.add("At", TimestampType)
    assert(RowRecord.of(columns, alsoAllowed = Seq("at")) === RowRecord.of(schema))
    assertThrows[ConnectorError](RowRecord.of(columns))
  }
}
