package sparkkinesis.spark.read.task

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import sparkkinesis.model.aggregate.AggregateTags
import sparkkinesis.sink.once.WriterIdentity

/** The metadata column `writerId`: who wrote an aggregate with `deliveryGuarantee=exactlyOnce`. */
private[task] object WriterColumn {
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
