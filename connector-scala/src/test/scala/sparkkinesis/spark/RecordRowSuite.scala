package sparkkinesis.spark

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.types.StructType

import sparkkinesis.Generators.arn
import sparkkinesis.model._

class RecordRowSuite extends AnyFunSuite {
  private val row = new RecordRow
  private val record =
    Record(SequenceNumber("0042"), Some("ключ"), "data".getBytes, 1700000000123L, Some("KMS"))

  /** The columns and, behind them, the metadata columns. */
  private val types = RecordRow.MetadataColumns.foldLeft(RecordRow.Schema) { (all, column) =>
    all.add(column.name, column.dataType)
  }

  private def values(record: Record): Map[String, Any] = {
    row.read(StreamShard(arn, ShardId("shardId-3")), PackedRecords(Vector(record)))
    assert(row.next())
    types.fields.indices.foreach(i =>
      assert(row.isNullAt(i) === (row.get(i, types(i).dataType) == null))
    )
    types.fields.indices.map { i =>
      types(i).name -> Option(row.get(i, types(i).dataType)).map {
        case bytes: Array[Byte] => bytes.toSeq
        case text: org.apache.spark.unsafe.types.UTF8String => text.toString
        case other => other
      }
    }.toMap
  }

  test("the columns, in their order") {
    assert(
      RecordRow.Schema === StructType.fromDDL(
        "partitionKey STRING, data BINARY NOT NULL, stream STRING NOT NULL, " +
          "shardId STRING NOT NULL, sequenceNumber STRING NOT NULL, " +
          "subSequenceNumber BIGINT NOT NULL, approximateArrivalTimestamp TIMESTAMP NOT NULL"
      )
    )
    val metadata = Seq("explicitHashKey", "encryptionType", "streamArn")
    assert(RecordRow.MetadataColumns.map(_.name).toSeq === metadata)
  }

  test("a record as a row: text as it was, time in microseconds") {
    assert(
      values(record) === Map(
        "partitionKey" -> Some("ключ"),
        "data" -> Some("data".getBytes.toSeq),
        "stream" -> Some("orders"),
        "shardId" -> Some("shardId-3"),
        "sequenceNumber" -> Some("0042"),
        "subSequenceNumber" -> Some(0L),
        "approximateArrivalTimestamp" -> Some(1700000000123000L),
        "explicitHashKey" -> None,
        "encryptionType" -> Some("KMS"),
        "streamArn" -> Some(arn.toString)
      )
    )
  }

  test("it moves from record to record, and a copy stays") {
    val records = (1 to 3).map(i => record.copy(sequenceNumber = SequenceNumber(s"$i")))
    row.read(StreamShard(arn, ShardId("shardId-3")), PackedRecords(records).slice(1, 3))
    val copies = Iterator.continually(row.next()).takeWhile(identity).map(_ => row.copy()).toVector
    assert(copies.map(_.getUTF8String(4).toString) === Vector("2", "3"))
    assert(copies.map(_.getLong(6)).toSet === Set(1700000000123000L))
  }

  test("nothing of the row before is left, and what may be missing is null") {
    values(record)
    val bare = Record(SequenceNumber("43"), None, Array.emptyByteArray, 0, None)
    val row = values(bare)
    assert(row("partitionKey") === None && row("encryptionType") === None)
    assert(row("data") === Some(Seq.empty) && row("sequenceNumber") === Some("43"))
  }
}
