package sparkkinesis.spark.read.realtime

import java.lang.{Long => JLong}

import scala.annotation.unused

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeRead.RecordStatus
import org.apache.spark.sql.connector.read.streaming.{PartitionOffset, SupportsRealTimeRead}

/** A [[RealTimeTask]] as Spark calls it. */
private[sparkkinesis] final class RealTimePartitionReader(task: RealTimeTask)
    extends SupportsRealTimeRead[InternalRow] {

  /** Spark 4.1 calls this. */
  override def nextWithTimeout(timeoutMillis: JLong): RecordStatus =
    if (task.next(timeoutMillis)) RecordStatus.newStatusWithArrivalTimeMs(task.arrivalMillis)
    else RecordStatus.newStatusWithoutArrivalTime(false)

  /**
   * Spark 4.2 and newer call this. No override, because Spark 4.1 does not have it.
   *
   * @param startMillis when the wait began, in milliseconds of a clock of Spark's
   */
  def nextWithTimeout(@unused startMillis: JLong, timeoutMillis: JLong): RecordStatus =
    nextWithTimeout(timeoutMillis)

  override def getOffset: PartitionOffset = RealTimeEnd(task.end)

  override def get(): InternalRow = task.get()

  /** Spark calls this in micro-batches only. */
  override def next(): Boolean =
    throw new UnsupportedOperationException("Spark calls nextWithTimeout of this reader.")

  override def close(): Unit = task.close()
}
