package sparkkinesis.simulator.state

import java.time.Instant

import sparkkinesis.model._
import sparkkinesis.simulator.record.{RecordLog, SequenceParts, ShardNumbering}

/**
 * One shard and its records.
 *
 * A record's position is its index in the shard since the shard was made, trimmed records included.
 *
 * @param epoch seconds since 1970 that lead its sequence numbers: greater than the parents'
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

  /** The position of the oldest record kept. */
  def base: Long = records.first

  /** The position behind the newest record. */
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

  /** Arrivals never go back, whatever the clock does. An empty partition key is none. */
  def append(entry: PutEntry, encryptionType: Option[String], now: Instant): ShardState = {
    val arrival = math.max(now.toEpochMilli, arrivalMillis(end - 1).getOrElse(0L))
    val key = Some(entry.partitionKey).filter(_.nonEmpty)
    copy(records = records.append(key, entry.data, arrival, encryptionType))
  }

  /** Without the records that arrived before; cheap where there are none. */
  def trimmed(horizonMillis: Long): ShardState = {
    val dropped = (positionAt(horizonMillis) - base).toInt
    if (dropped == 0) this else copy(records = records.drop(dropped))
  }

  /** The position of the first record that arrived then or later. */
  def positionAt(millis: Long): Long = records.firstWhere(records.arrivalMillis(_) >= millis)

  def positionAt(number: SequenceNumber): Long =
    records.firstWhere(records.sequenceNumber(_) >= number)

  def positionAfter(number: SequenceNumber): Long =
    records.firstWhere(records.sequenceNumber(_) > number)

  /** When the record there arrived, if there is one. */
  def arrivalMillis(position: Long): Option[Long] =
    Option.when(holds(position))(records.arrivalMillis(position))

  def sequenceNumber(position: Long): Option[SequenceNumber] =
    Option.when(holds(position))(records.sequenceNumber(position))

  /** Up to `count` records and `bytes` bytes, though at least one where there is one. */
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

  /** By hand: made for every record put. */
  def id(number: Int): ShardId = {
    val digits = number.toString
    ShardId("shardId-" + "000000000000".substring(digits.length) + digits)
  }

  /** `None` where no shard can have that name. */
  def number(id: ShardId): Option[Int] = id.name match {
    case Name(digits) => digits.toIntOption
    case _ => None
  }

  /** Of a new, empty shard. */
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
