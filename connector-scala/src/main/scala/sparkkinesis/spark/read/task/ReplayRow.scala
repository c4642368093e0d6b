package sparkkinesis.spark.read.task

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.BaseGenericInternalRow
import org.apache.spark.sql.types.{LongType, StructType}

import sparkkinesis.model.{PackedRecords, StreamShard}
import sparkkinesis.source.replay.BatchParts

/**
 * A row of [[RecordRow]] with the number of its batch, between its columns and the metadata
 * columns.
 *
 * @param record may be shared with the rows of other ranges
 * @param batches of the range that is read
 */
final class ReplayRow(record: RecordRow, batches: BatchParts)
    extends BaseGenericInternalRow
    with PageRow {
  import ReplayRow._

  private var shard = Option.empty[StreamShard]
  private var parts: Iterator[(Long, PackedRecords)] = Iterator.empty // of the page, after this one
  private var batch = 0L

  override def read(id: StreamShard, page: PackedRecords): Unit = {
    shard = Some(id)
    parts = batches.of(page)
    nextPart(): Unit
  }

  @tailrec override def next(): Boolean = record.next() || nextPart() && next()

  private def nextPart(): Boolean = {
    val hasPart = parts.hasNext
    for (id <- shard if hasPart) {
      val (number, records) = parts.next()
      batch = number
      record.read(id, records)
    }
    hasPart
  }

  override def numFields: Int = record.numFields + 1

  override protected def genericGet(ordinal: Int): Any =
    if (ordinal == Batch) batch else record.genericGet(recordOrdinal(ordinal))

  /** Spark asks before each value. */
  override def isNullAt(ordinal: Int): Boolean =
    ordinal != Batch && record.isNullAt(recordOrdinal(ordinal))

  /** Does not box the value. */
  override def getLong(ordinal: Int): Long =
    if (ordinal == Batch) batch else record.getLong(recordOrdinal(ordinal))

  override def setNullAt(ordinal: Int): Unit = record.setNullAt(recordOrdinal(ordinal))

  override def update(ordinal: Int, value: Any): Unit = record.update(recordOrdinal(ordinal), value)

  private def recordOrdinal(ordinal: Int): Int = if (ordinal < Batch) ordinal else ordinal - 1
}

object ReplayRow {

  /** The columns of a source, and the number of the batch. */
  val Schema: StructType = RecordRow.Schema.add("batchId", LongType, nullable = false)

  private val Batch = Schema.fieldIndex("batchId")
}
