package sparkkinesis.simulator.state

import java.time.Instant

import sparkkinesis.model._
import sparkkinesis.simulator.record.{RecordLog, SequenceParts, ShardNumbering}

/**
 * One shard and its records.
 *
 * The position of a record is its index in the shard, counted from the creation of the shard.
 *
 * @param epoch seconds since 1970, the first part of its sequence numbers; later than the parents'
 *   epochs
 */
private[simulator] final case class ShardState(
    number: Int,
    parents: Seq[ShardId],
    hashKeys: HashKeyRange,
    created: Instant,
    epoch: Long,
    closed: Option[Instant],
    records: RecordLog
) {
  def id: ShardId = ShardState.id(number)

  def isOpen: Boolean = closed.isEmpty

  /** The position of the oldest record that is not trimmed. */
  def base: Long = records.first

  /** The position after the newest record. */
  def end: Long = records.end

  def shard: Shard = Shard(
    id,
    parents,
    hashKeys,
    SequenceParts(epoch, 0, epoch, number).number,
    closed.map(at => lastNumber(at))
  )

  def childShard: ChildShard = ChildShard(id, parents, hashKeys)

  def close(now: Instant): ShardState = copy(closed = Some(now))

  /**
   * Appends a record. Arrival times never go back, even if the clock does. An empty partition key
   * counts as none.
   */
  def append(entry: PutEntry, encryptionType: Option[String], now: Instant): ShardState = {
    val arrival = math.max(now.toEpochMilli, arrivalMillis(end - 1).getOrElse(0L))
    val key = Some(entry.partitionKey).filter(_.nonEmpty)
    copy(records = records.append(key, entry.data, arrival, encryptionType))
  }

  /** Removes the records that arrived before. Cheap if there are none. */
  def trimmed(horizonMillis: Long): ShardState = {
    val dropped = (positionAt(horizonMillis) - base).toInt
    if (dropped == 0) this else copy(records = records.drop(dropped))
  }

  /** The position of the first record that arrived at that time or later. */
  def positionAt(millis: Long): Long = records.firstWhere(records.arrivalMillis(_) >= millis)

  def positionAt(number: SequenceNumber): Long =
    records.firstWhere(records.sequenceNumber(_) >= number)

  def positionAfter(number: SequenceNumber): Long =
    records.firstWhere(records.sequenceNumber(_) > number)

  /** The arrival time of the record at the position, if there is one. */
  def arrivalMillis(position: Long): Option[Long] =
    Option.when(holds(position))(records.arrivalMillis(position))

  def sequenceNumber(position: Long): Option[SequenceNumber] =
    Option.when(holds(position))(records.sequenceNumber(position))

  /**
   * A page of at most `count` records and `bytes` bytes, but at least one record if there is one.
   */
  def page(from: Long, count: Int, bytes: Int): RecordLog = {
    val start = (from - base).toInt
    val candidates = records.slice(start, start + count)
    candidates.take(math.max(candidates.within(bytes).size, 1))
  }

  private def holds(position: Long): Boolean = position >= base && position < end

  private def lastNumber(at: Instant): SequenceNumber =
    SequenceParts(epoch, SequenceParts.LastIndex, at.getEpochSecond, number).number
}

private[simulator] object ShardState {
  private val Name = "shardId-(\\d{12})".r

  /** Formatted without `String.format`, because this runs for each record. */
  def id(number: Int): ShardId = {
    val digits = number.toString
    ShardId("shardId-" + "000000000000".substring(digits.length) + digits)
  }

  /** `None` if no shard can have that name. */
  def number(id: ShardId): Option[Int] = id.name match {
    case Name(digits) => digits.toIntOption
    case _ => None
  }

  /** A new, empty shard. */
  def open(
      number: Int,
      parents: Seq[ShardState],
      hashKeys: HashKeyRange,
      now: Instant
  ): ShardState = {
    val epoch = (now.getEpochSecond +: parents.map(_.epoch + 1)).max
    val records = RecordLog.empty(ShardNumbering(epoch, number))
    ShardState(number, parents.map(_.id), hashKeys, now, epoch, None, records)
  }
}
