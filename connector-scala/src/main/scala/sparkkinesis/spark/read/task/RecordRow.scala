package sparkkinesis.spark.read.task

import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.BaseGenericInternalRow
import org.apache.spark.sql.connector.catalog.MetadataColumn
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import sparkkinesis.model.aggregate.{AggregateMarker, AggregateReader, AggregateTags}
import sparkkinesis.model.{PackedRecords, StreamArn, StreamShard}
import sparkkinesis.sink.once.WriterIdentity
import sparkkinesis.spark.metrics.TaskDelays

/**
 * A row that moves over the records of pages. It creates a value when Spark asks for it, so a
 * column that the query does not use costs nothing. The metadata columns always follow the others,
 * because Spark 4.0 and 4.1 do not say whether the query uses them.
 *
 * @param deaggregate whether each sub-record of an aggregate is a row; otherwise each Kinesis
 *   record is
 * @param isReplay whether the number of the batch is a column
 * @param delays counts each record; none in a batch read
 */
private[sparkkinesis] final class RecordRow(
    deaggregate: Boolean,
    isReplay: Boolean = false,
    delays: Option[TaskDelays] = None
) extends BaseGenericInternalRow {
  import RecordRow._

  private var stream = Option.empty[StreamArn]
  private var streamText = UTF8String.EMPTY_UTF8
  private var arnText = UTF8String.EMPTY_UTF8
  private var shardText = UTF8String.EMPTY_UTF8
  private var records = PackedRecords.Empty
  private var batch = 0L
  private var index = -1
  private val aggregate = new AggregateReader
  private var subRecords = 0 // number in the record; 0 if it is not an aggregate
  private var subRecord = 0
  private var writer = Option.empty[InternalRow] // of the record, if it was asked for

  /** Starts a page: `next` then moves to its first row. */
  def read(shard: StreamShard, page: PackedRecords, batchNumber: Long = 0): Unit = {
    if (!stream.contains(shard.stream)) {
      stream = Some(shard.stream)
      streamText = UTF8String.fromString(shard.stream.name.name)
      arnText = UTF8String.fromString(shard.stream.toString)
    }
    shardText = UTF8String.fromString(shard.shard.name)
    records = page
    delays.foreach(_.beginPage())
    batch = batchNumber
    index = -1
    subRecords = 0
    subRecord = 0
  }

  /** Whether there is another row in the page. */
  def next(): Boolean =
    if (subRecord + 1 < subRecords) {
      subRecord += 1
      aggregate.next()
      true
    } else nextRecord()

  /** Index of the last record in the page of which all rows were read; -1 before the first. */
  def lastWhole: Int =
    if (index < records.length && subRecord + 1 < subRecords) index - 1
    else math.min(index, records.length - 1)

  /** Rows that were read of the record after the last whole one. */
  def partialRows: Int =
    if (index < records.length && subRecord + 1 < subRecords) subRecord + 1 else 0

  /** When the record of this row arrived, in milliseconds since 1970 UTC. */
  def arrivalMillis: Long = records.arrivalMillis(index)

  private def nextRecord(): Boolean = {
    index += 1
    while (deaggregate && index < records.length && isMarker) index += 1
    subRecord = 0
    subRecords = 0
    writer = None
    val exists = index < records.length
    if (exists && delays.nonEmpty) delays.get.count(records.arrivalMillis(index))
    if (exists && deaggregate) {
      val begin = records.dataBegin(index)
      subRecords = aggregate.open(records.content, begin, records.dataLength(index))
      if (subRecords > 0) aggregate.next()
    }
    exists
  }

  private def isMarker: Boolean =
    AggregateMarker.is(records.content, records.dataBegin(index), records.dataLength(index))

  override def numFields: Int = if (isReplay) Columns.length else Columns.length - 1

  /** The batch is the last of [[Columns]], and stands before the metadata columns in a replay. */
  private def column(ordinal: Int): Int =
    if (!isReplay || ordinal < Schema.length) ordinal
    else if (ordinal == Schema.length) Batch
    else ordinal - 1

  override protected def genericGet(ordinal: Int): Any = column(ordinal) match {
    case PartitionKey => partitionKey
    case Data => data
    case Stream => streamText
    case Shard => shardText
    case Number => text(records.numberBegin(index), records.numberLength(index))
    case SubNumber => subRecord.toLong
    case Arrival => arrivalMicros
    case ExplicitHashKey => explicitHashKey
    case EncryptionType => records.encryptionType(index).map(UTF8String.fromString).orNull
    case Arn => arnText
    case Writer => writerId
    case Batch => batch
    case other => throw new IndexOutOfBoundsException(s"There is no column $other.")
  }

  /** Spark asks before each value, so this creates none. */
  override def isNullAt(ordinal: Int): Boolean = column(ordinal) match {
    case PartitionKey => isPlain && !records.hasKey(index)
    case ExplicitHashKey => isPlain || !aggregate.hasHashKey
    case EncryptionType => records.encryptionType(index).isEmpty
    case Writer => writerId == null
    case _ => false
  }

  /** Does not box the value. */
  override def getLong(ordinal: Int): Long = column(ordinal) match {
    case Arrival => arrivalMicros
    case Batch => batch
    case _ => subRecord.toLong
  }

  override def setNullAt(ordinal: Int): Unit = update(ordinal, null)

  override def update(ordinal: Int, value: Any): Unit =
    throw new UnsupportedOperationException("Rows of the Kinesis source are read-only.")

  private def arrivalMicros: Long = records.arrivalMillis(index) * MicrosPerMilli

  private def isPlain: Boolean = subRecords == 0

  private def partitionKey: UTF8String =
    if (!isPlain) text(aggregate.partitionKeyBegin, aggregate.partitionKeyLength)
    else if (records.hasKey(index)) text(records.keyBegin(index), records.keyLength(index))
    else null

  private def data: Array[Byte] =
    if (isPlain) records.data(index)
    else
      Arrays.copyOfRange(
        records.content,
        aggregate.dataBegin,
        aggregate.dataBegin + aggregate.dataLength
      )

  private def explicitHashKey: UTF8String =
    if (isPlain || !aggregate.hasHashKey) null
    else text(aggregate.hashKeyBegin, aggregate.hashKeyLength)

  private def writerId: InternalRow = {
    if (writer.isEmpty) {
      val (begin, length) = (records.dataBegin(index), records.dataLength(index))
      writer = Some(WriterColumn.of(records.content, begin, length))
    }
    writer.get
  }

  private def text(begin: Int, length: Int): UTF8String =
    UTF8String.fromBytes(records.content, begin, length)
}

/**
 * The columns of the source. `(stream, shardId, sequenceNumber, subSequenceNumber)` identifies a
 * row. Use `streamArn` in place of `stream` if a query reads streams of the same name in several
 * regions or accounts.
 */
private[sparkkinesis] object RecordRow {

  /** `partitionKey` is null on streams with `AUTO` record distribution. */
  val Schema: StructType = new StructType()
    .add("partitionKey", StringType)
    .add("data", BinaryType, nullable = false)
    .add("stream", StringType, nullable = false)
    .add("shardId", StringType, nullable = false)
    .add("sequenceNumber", StringType, nullable = false)
    .add("subSequenceNumber", LongType, nullable = false)
    .add("approximateArrivalTimestamp", TimestampType, nullable = false)

  /** The columns of a replay. */
  val ReplaySchema: StructType = Schema.add("batchId", LongType, nullable = false)

  val MetadataColumns: Array[MetadataColumn] = Array(
    metadataColumn(
      "explicitHashKey",
      "Explicit hash key of the sub-record, if the aggregate holds one."
    ),
    metadataColumn("encryptionType", "Encryption of the record: NONE or KMS."),
    metadataColumn("streamArn", "ARN of the stream."),
    metadataColumn("writerId", "Writer of the record, if it wrote exactly once.", WriterColumn.Type)
  )

  private def metadataColumn(
      columnName: String,
      text: String,
      columnType: DataType = StringType
  ): MetadataColumn =
    new MetadataColumn {
      override def name: String = columnName
      override def dataType: DataType = columnType
      override def comment: String = text
    }

  private val Columns = MetadataColumns
    .foldLeft(Schema)((all, it) => all.add(it.name, it.dataType))
    .add(ReplaySchema.last)
  private val PartitionKey = Columns.fieldIndex("partitionKey")
  private val Data = Columns.fieldIndex("data")
  private val Stream = Columns.fieldIndex("stream")
  private val Shard = Columns.fieldIndex("shardId")
  private val Number = Columns.fieldIndex("sequenceNumber")
  private val SubNumber = Columns.fieldIndex("subSequenceNumber")
  private val Arrival = Columns.fieldIndex("approximateArrivalTimestamp")
  private val ExplicitHashKey = Columns.fieldIndex("explicitHashKey")
  private val EncryptionType = Columns.fieldIndex("encryptionType")
  private val Arn = Columns.fieldIndex("streamArn")
  private val Writer = Columns.fieldIndex("writerId")
  private val Batch = Columns.fieldIndex("batchId")
  private val MicrosPerMilli = 1000L
}

/** The metadata column `writerId`: who wrote an aggregate with `deliveryGuarantee=exactlyOnce`. */
private object WriterColumn {
  val Type: StructType = new StructType()
    .add("query", StringType, nullable = false)
    .add("batch", LongType, nullable = false)
    .add("incarnation", StringType, nullable = false)
    .add("run", LongType, nullable = false)
    .add("partition", IntegerType, nullable = false)
    .add("task", LongType, nullable = false)
    .add("aggregate", LongType, nullable = false)

  /** The value for a Kinesis record. Null if the record carries no identity. */
  def of(bytes: Array[Byte], begin: Int, length: Int): InternalRow = {
    val value = for {
      (text, number) <- AggregateTags.tagOf(bytes, begin, length)
      writer <- WriterIdentity.parse(text)
    } yield row(writer, number)
    value.orNull
  }

  private def row(writer: WriterIdentity, number: Long) = InternalRow(
    UTF8String.fromString(writer.query),
    writer.batch,
    UTF8String.fromString(writer.incarnation),
    writer.run,
    writer.partition,
    writer.task,
    number
  )
}
