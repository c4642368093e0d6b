package sparkkinesis.sink.lane

import java.util.ArrayDeque

import scala.jdk.CollectionConverters._

/** Records in their order, and their size. */
private[lane] final class RecordQueue {
  private val records = new ArrayDeque[PendingRecord]
  private var bytesInQueue = 0L

  def isEmpty: Boolean = records.isEmpty
  def size: Int = records.size
  def bytes: Long = bytesInQueue

  /** The failures of the queued records that failed before. */
  def failures: Vector[Failures] = records.iterator.asScala.flatMap(_.failures).toVector

  /** The first record of a queue that is not empty. */
  def head: PendingRecord = records.peek

  def addLast(record: PendingRecord): Unit = {
    records.add(record)
    bytesInQueue += record.size
  }

  def addFirst(record: PendingRecord): Unit = {
    records.addFirst(record)
    bytesInQueue += record.size
  }

  /** Removes the first record of a queue that is not empty. */
  def removeFirst(): PendingRecord = {
    val record = records.poll()
    bytesInQueue -= record.size
    record
  }

  /** Removes all records. */
  def drain(): Vector[PendingRecord] = Vector.fill(size)(removeFirst())
}
