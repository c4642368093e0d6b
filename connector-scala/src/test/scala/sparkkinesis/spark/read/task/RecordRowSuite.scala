package sparkkinesis.spark.read.task

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType

import sparkkinesis.Generators.arn
import sparkkinesis.KplAggregates
import sparkkinesis.KplAggregates.SubRecord
import sparkkinesis.model._
import sparkkinesis.model.aggregate.{AggregateBuilder, AggregateMarker, AggregateTags}

class RecordRowSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val row = new RecordRow(deaggregate = true)
  private val shard = StreamShard(arn, ShardId("shardId-3"))
  private val record =
    Record(SequenceNumber("0042"), Some("ключ"), "data".getBytes, 1700000000123L, Some("KMS"))

  /** The columns and, behind them, the metadata columns. */
  private val types = RecordRow.MetadataColumns.foldLeft(RecordRow.Schema) { (all, column) =>
    all.add(column.name, column.dataType)
  }

  private def values(record: Record): Map[String, Any] = {
    row.read(shard, PackedRecords(Vector(record)))
    assert(row.next())
    values(row)
  }

  private def values(row: RecordRow): Map[String, Any] = {
    assert(row.getLong(5) === row.get(5, types(5).dataType))
    types.fields.indices.foreach(i =>
      assert(row.isNullAt(i) === (row.get(i, types(i).dataType) == null))
    )
    types.fields.indices.map { i =>
      types(i).name -> Option(row.get(i, types(i).dataType)).map {
        case bytes: Array[Byte] => bytes.toSeq
        case text: org.apache.spark.unsafe.types.UTF8String => text.toString
        case inner: InternalRow => inner.toSeq(WriterColumn.Type).map(_.toString)
        case other => other
      }
    }.toMap
  }

  test("a marker of an exactly-once writer is no row, wherever it is in a page") {
    val marker = record.copy(data = AggregateMarker.entry(HashKey.Min).data)
    def count(reader: RecordRow, page: Record*) = {
      reader.read(shard, PackedRecords(page.toVector))
      Iterator.continually(reader.next()).takeWhile(identity).size
    }
    assert(count(row, marker, marker, record, marker, record, marker) === 2)
    assert(count(row, marker) === 0)
    assert(count(new RecordRow(deaggregate = false), marker, record) === 2)
  }

  test("the columns are in the documented order") {
    assert(
      RecordRow.Schema === StructType.fromDDL(
        "partitionKey STRING, data BINARY NOT NULL, stream STRING NOT NULL, " +
          "shardId STRING NOT NULL, sequenceNumber STRING NOT NULL, " +
          "subSequenceNumber BIGINT NOT NULL, approximateArrivalTimestamp TIMESTAMP NOT NULL"
      )
    )
    val metadata = Seq("explicitHashKey", "encryptionType", "streamArn", "writerId")
    assert(RecordRow.MetadataColumns.map(_.name).toSeq === metadata)
  }

  test("a record becomes a row, with its text unchanged and its time in microseconds") {
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
        "streamArn" -> Some(arn.toString),
        "writerId" -> None
      )
    )
  }

  test("the row object moves from record to record, and a copy keeps its values") {
    val records = (1 to 3).map(i => record.copy(sequenceNumber = SequenceNumber(s"$i")))
    row.read(shard, PackedRecords(records).slice(1, 3))
    val copies = Iterator.continually(row.next()).takeWhile(identity).map(_ => row.copy()).toVector
    assert(copies.map(_.getUTF8String(4).toString) === Vector("2", "3"))
    assert(copies.map(_.getLong(6)).toSet === Set(1700000000123000L))
  }

  test("a row has no value of the previous row, and missing values are null") {
    values(record)
    val bare = Record(SequenceNumber("43"), None, Array.emptyByteArray, 0, None)
    val row = values(bare)
    assert(row("partitionKey") === None && row("encryptionType") === None)
    assert(row("data") === Some(Seq.empty) && row("sequenceNumber") === Some("43"))
  }

  private def all(row: RecordRow, records: Seq[Record]): Vector[Map[String, Any]] = {
    row.read(shard, PackedRecords(records.toVector))
    Iterator.continually(row.next()).takeWhile(identity).map(_ => values(row)).toVector
  }

  private def aggregate(records: Seq[SubRecord], number: Int = 42): Record =
    record.copy(sequenceNumber = SequenceNumber(s"$number"), data = KplAggregates(records))

  test("each record of an aggregate is a row, and other columns come from the aggregate") {
    val sub = Vector(SubRecord("a", Vector(1, 2)), SubRecord("кл", Vector(), Some("7")))
    val rows = all(row, Vector(aggregate(sub)))
    val plain = values(record.copy(sequenceNumber = SequenceNumber("42")))
    assert(
      rows === Vector(
        plain ++ Map("partitionKey" -> Some("a"), "data" -> Some(Seq(1, 2))),
        plain ++ Map(
          "partitionKey" -> Some("кл"),
          "data" -> Some(Seq.empty),
          "subSequenceNumber" -> Some(1L),
          "explicitHashKey" -> Some("7")
        )
      )
    )
  }

  private def tagged(text: String, number: Int): Record = {
    val tags = new AggregateTags(text)
    val builder = new AggregateBuilder(ServiceLimits.RecordBytes, tags = Some(tags))
    val made = (1 to number).map { _ =>
      Seq("a", "b").foreach(key => builder.add(PutEntry(key, Array[Byte](1), None)))
      builder.result()
    }
    record.copy(data = made.last.data)
  }

  test("the rows of an exactly-once writer have its identity, with and without deaggregation") {
    val ours = tagged("q 3 i 1 2 5", number = 7)
    val id = Some(Seq("q", "3", "i", "1", "2", "5", "7"))
    assert(all(row, Vector(ours)).map(_("writerId")) === Vector(id, id))
    assert(all(new RecordRow(deaggregate = false), Vector(ours)).map(_("writerId")) === Vector(id))
    val foreign = tagged("another form", number = 1)
    val sub = aggregate(Vector(SubRecord("a", Vector(1))))
    val rows = all(row, Vector(ours, foreign, sub, record, ours))
    assert(rows.map(_("writerId") == None) === Vector(0, 0, 1, 1, 1, 1, 0, 0).map(_ == 1))
  }

  test("the rows of an aggregate without a partition key have their own keys") {
    val noKey = aggregate(Vector(SubRecord("a", Vector(1)))).copy(partitionKey = None)
    assert(all(row, Vector(noKey)).map(_("partitionKey")) === Vector(Some("a")))
  }

  private val plain: Gen[Either[Vector[Byte], Vector[SubRecord]]] =
    Gen.asciiStr.map(text => Left(text.getBytes.toVector))

  private val page = Gen
    .choose(0, 8)
    .flatMap(Gen.listOfN(_, Gen.oneOf(plain, KplAggregates.subRecords.map(Right(_)))))
    .map(_.toVector)

  test("any mixture of plain records and aggregates becomes all rows, in order, numbered from 0") {
    forAll(page) { page =>
      val records = page.zipWithIndex.map {
        case (Left(plain), i) =>
          record.copy(sequenceNumber = SequenceNumber(s"$i"), data = plain.toArray)
        case (Right(sub), i) => aggregate(sub, i)
      }
      val expected = page.zipWithIndex.flatMap {
        case (Left(plain), i) => Vector((s"$i", 0L, "ключ", plain, None))
        case (Right(sub), i) =>
          sub.zipWithIndex.map { case (it, n) =>
            (s"$i", n.toLong, it.partitionKey, it.data, it.explicitHashKey)
          }
      }
      val rows = all(row, records).map { it =>
        def of[A](column: String) = it(column).asInstanceOf[Option[A]]
        (
          of[String]("sequenceNumber").get,
          of[Long]("subSequenceNumber").get,
          of[String]("partitionKey").get,
          of[Seq[Byte]]("data").get.toVector,
          of[String]("explicitHashKey")
        )
      }
      assert(rows === expected)
    }
  }

  test("a damaged aggregate is one row, and so is every aggregate without deaggregation") {
    val good = aggregate(Vector(SubRecord("a", Vector(1)), SubRecord("b", Vector(2))))
    val damaged = good.copy(data = good.data.init)
    assert(all(row, Vector(damaged)) === Vector(values(damaged)))
    assert(values(damaged)("data") === Some(damaged.data.toSeq))
    val asItIs = all(new RecordRow(deaggregate = false), Vector(good))
    assert(asItIs.map(_("data")) === Vector(Some(good.data.toSeq)))
    assert(asItIs.map(_("partitionKey")) === Vector(Some("ключ")))
  }

  test("a page that is abandoned inside an aggregate does not affect the next page") {
    row.read(
      shard,
      PackedRecords(Vector(aggregate(Vector.fill(3)(SubRecord("a", Vector(1))))))
    )
    assert(row.next() && row.next())
    assert(values(record)("subSequenceNumber") === Some(0L) && !row.next())
  }

  private val withMarkers = Gen
    .choose(0, 8)
    .flatMap(Gen.listOfN(_, Gen.option(Gen.oneOf(plain, KplAggregates.subRecords.map(Right(_))))))
    .map(_.toVector)

  test("the last whole record and the rows after it are all rows so far, with markers between") {
    forAll(withMarkers) { page =>
      val marker = record.copy(data = AggregateMarker.entry(HashKey.Min).data)
      val (records, rows) = page.zipWithIndex.map {
        case (None, _) => marker -> 0
        case (Some(Left(plain)), _) => record.copy(data = plain.toArray) -> 1
        case (Some(Right(sub)), i) => aggregate(sub, i) -> sub.size
      }.unzip
      row.read(shard, PackedRecords(records))
      (0 to rows.sum).foreach { count =>
        if (count > 0) assert(row.next())
        assert(rows.take(row.lastWhole + 1).sum + row.partialRows === count)
        if (row.partialRows > 0) assert(row.partialRows < rows(row.lastWhole + 1))
      }
      assert(row.partialRows === 0)
      assert(!row.next())
      assert(row.lastWhole === records.size - 1 && row.partialRows === 0)
    }
  }

  test("a page begins without a whole record, also after another page") {
    val two = aggregate(Vector.fill(2)(SubRecord("a", Vector(1))))
    row.read(shard, PackedRecords(Vector(record, two)))
    assert(row.next() && row.lastWhole === 0)
    assert(row.next() && (row.lastWhole, row.partialRows) === (0 -> 1))
    row.read(shard, PackedRecords(Vector(two)))
    assert((row.lastWhole, row.partialRows) === (-1 -> 0))
    assert(row.next() && (row.lastWhole, row.partialRows) === (-1 -> 1))
    assert(row.arrivalMillis === 1700000000123L)
  }
}
