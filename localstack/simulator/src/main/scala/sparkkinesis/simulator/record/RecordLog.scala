package sparkkinesis.simulator.record

import java.nio.charset.StandardCharsets.UTF_8

import scala.annotation.tailrec

import sparkkinesis.model.{Record, SequenceNumber}
import sparkkinesis.simulator.record.RecordChunk.NewRecord

/**
 * The records of one shard, packed into chunks: 14 bytes per record besides its key and data.
 * Sequence numbers are not stored, because they follow from the positions.
 *
 * A value: appending returns another log that shares the chunks. Each access creates a new
 * [[Record]] object; to read many records, use `cursor`.
 *
 * @param numbers numbering of the shard
 * @param chunks the first chunk contains `first`; empty if the log is empty
 * @param first position of the first record, counted from the creation of the shard
 * @param end position after the last record
 * @param latestArrival latest arrival of all records that the shard ever had; 0 for a new shard
 * @param fall how much earlier than that a later record arrived, at most
 */
private[simulator] final class RecordLog private (
    numbers: ShardNumbering,
    chunks: Vector[RecordChunk],
    val first: Long,
    val end: Long,
    val latestArrival: Long,
    fall: Long
) extends IndexedSeq[Record] {
  override def length: Int = (end - first).toInt

  /** Throws `IndexOutOfBoundsException` if there is no such record. */
  override def apply(index: Int): Record =
    if (index < 0 || index >= length)
      throw new IndexOutOfBoundsException(s"Record $index of $length.")
    else slice(index, index + 1).iterator.next()

  override def iterator: Iterator[Record] = {
    val moving = cursor
    Iterator.fill(length) {
      moving.advance()
      moving.record
    }
  }

  /** A cursor before the first record. */
  def cursor: RecordCursor = new RecordCursor(numbers, chunks, first, end)

  /** Shares the chunks, like `take` and `drop`. */
  override def slice(from: Int, until: Int): RecordLog = {
    val low = first + math.min(math.max(from, 0), length)
    val high = math.max(low, first + math.min(until, length))
    val held = if (low == high) Vector.empty else chunks.slice(indexOf(low), indexOf(high - 1) + 1)
    new RecordLog(numbers, held, low, high, latestArrival, fall)
  }

  override def drop(count: Int): RecordLog = slice(count, length)

  override def take(count: Int): RecordLog = slice(0, count)

  /** Size of the chunks, including their spare room. */
  def chunkBytes: Long = chunks.iterator.map(_.capacity.toLong).sum

  /** The first records whose data and partition keys have at most so many bytes. */
  def within(bytes: Long): RecordLog = {
    val moving = cursor
    @tailrec def fitting(count: Int, left: Long): Int =
      if (!moving.advance() || moving.size > left) count
      else fitting(count + 1, left - moving.size)
    take(fitting(0, bytes))
  }

  /** Bytes of all data and partition keys. */
  def bytes: Long = {
    val moving = cursor
    @tailrec def sum(sofar: Long): Long =
      if (moving.advance()) sum(sofar + moving.size) else sofar
    sum(0)
  }

  def append(
      partitionKey: Option[String],
      data: Array[Byte],
      arrivalMillis: Long,
      encryptionType: Option[String]
  ): RecordLog = {
    val record = NewRecord(partitionKey, data, arrivalMillis, encryptionType)
    val grown = chunks.lastOption match {
      case Some(last) =>
        val used = (end - last.first).toInt
        if (last.append(used, record)) chunks
        else chunks.init :+ last.fitted(used) :+ RecordChunk.of(end, record, last.capacity)
      case None => Vector(RecordChunk.of(end, record, 0))
    }
    val latest = math.max(latestArrival, arrivalMillis)
    new RecordLog(numbers, grown, first, end + 1, latest, math.max(fall, latest - arrivalMillis))
  }

  /** @param position from `first` until `end` */
  def arrivalMillis(position: Long): Long = {
    val chunk = chunks(indexOf(position))
    chunk.arrivalMillis((position - chunk.first).toInt)
  }

  /** @param position from `first` until `end` */
  def sequenceNumber(position: Long): SequenceNumber =
    numbers.parts(position, arrivalMillis(position)).number

  /** The position of the first record that arrived at that time or later, or `end`. */
  def firstArrived(millis: Long): Long = {
    @tailrec def forward(position: Long): Long =
      if (position < end && arrivalMillis(position) < millis) forward(position + 1) else position
    // All records from the wanted one on arrived later than this bound, and the search ends at or
    // before the wanted one.
    val near = firstWhere(arrivalMillis(_) >= millis - fall)
    if (fall == 0) near else forward(near)
  }

  /**
   * The first position for which the condition holds, or `end`, if the condition holds for all
   * later positions. In general a position whose predecessor does not fulfil the condition.
   */
  def firstWhere(condition: Long => Boolean): Long = {
    @tailrec def search(low: Long, high: Long): Long =
      if (low >= high) low
      else {
        val middle = (low + high) >>> 1
        if (condition(middle)) search(low, middle) else search(middle + 1, high)
      }
    if (isEmpty || condition(first)) first else search(first + 1, end)
  }

  /** The index of the chunk that contains the position. */
  private def indexOf(position: Long): Int = {
    @tailrec def search(low: Int, high: Int): Int =
      if (high - low == 1) low
      else {
        val middle = (low + high) >>> 1
        if (chunks(middle).first <= position) search(middle, high) else search(low, middle)
      }
    search(0, chunks.size)
  }
}

private[simulator] object RecordLog {

  /** Bytes of all data and partition keys in UTF-8. Fast for packed records. */
  def bytes(records: Seq[Record]): Long = records match {
    case log: RecordLog => log.bytes
    case others =>
      others.iterator
        .map(r => r.data.length.toLong + r.partitionKey.fold(0)(_.getBytes(UTF_8).length))
        .sum
  }

  def empty(numbers: ShardNumbering): RecordLog = new RecordLog(numbers, Vector.empty, 0, 0, 0, 0)
}
