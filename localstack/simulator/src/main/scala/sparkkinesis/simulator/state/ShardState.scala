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
 * @param unseen times from which readers see the last records, in milliseconds since 1970: the last
 *   time is that of the last record. Readers see all records before these.
 */
private[simulator] final case class ShardState(
    number: Int,
    parents: Seq[ShardId],
    hashKeys: HashKeyRange,
    created: Instant,
    epoch: Long,
    closed: Option[Instant],
    records: RecordLog,
    unseen: Vector[Long] = Vector.empty
) {
  def id: ShardId = ShardState.id(number)

  def numbering: ShardNumbering = ShardNumbering(epoch, number)

  def isOpen: Boolean = closed.isEmpty

  /** The position of the oldest record that is not trimmed. */
  def base: Long = records.first

  /** The position after the newest record. */
  def end: Long = records.end

  /** The position after the newest record that readers see. */
  def visibleEnd(now: Instant): Long =
    if (unseen.isEmpty) end
    else end - (unseen.size - 1 - unseen.lastIndexWhere(_ <= now.toEpochMilli))

  /** When readers see the record at the position, if that is known to be later than its arrival. */
  def visibleAt(position: Long): Option[Instant] =
    unseen.lift((position - (end - unseen.size)).toInt).map(Instant.ofEpochMilli)

  /** Whether the end of the shard is at the position. */
  def endsAt(position: Long): Boolean = !isOpen && position >= end

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
   * Appends a record. Arrival times fall by at most `behaviour.arrivalFall`, even if the clock goes
   * back. An empty partition key counts as none.
   */
  def append(
      entry: PutEntry,
      encryptionType: Option[String],
      now: Instant,
      behaviour: Behaviour
  ): ShardState = {
    val arrival =
      math.max(now.toEpochMilli, records.latestArrival) - behaviour.fallMillis(numbering, end)
    val key = Some(entry.partitionKey).filter(_.nonEmpty)
    copy(
      records = records.append(key, entry.data, arrival, encryptionType),
      unseen = unseenWith(now.toEpochMilli, behaviour.delayMillis(numbering, end))
    )
  }

  /** The times of `unseen` after another record, which readers see in its turn. */
  private def unseenWith(now: Long, delay: Long): Vector[Long] = {
    val waiting = unseen.dropWhile(_ <= now)
    if (waiting.isEmpty && delay == 0) Vector.empty
    else waiting :+ waiting.lastOption.fold(now + delay)(math.max(_, now + delay))
  }

  /** Removes the records that arrived before. Cheap if there are none. */
  def trimmed(horizonMillis: Long): ShardState = {
    val dropped = (positionAt(horizonMillis) - base).toInt
    if (dropped == 0) this else copy(records = records.drop(dropped))
  }

  /**
   * The position of the first record that arrived at that time or later. Later records may have
   * arrived earlier.
   */
  def positionAt(millis: Long): Long = records.firstArrived(millis)

  def positionAt(number: SequenceNumber): Long =
    records.firstWhere(records.sequenceNumber(_) >= number)

  def positionAfter(number: SequenceNumber): Long =
    records.firstWhere(records.sequenceNumber(_) > number)

  /** The arrival time of the record at the position, if there is one. */
  def arrivalMillis(position: Long): Option[Long] =
    Option.when(holds(position))(records.arrivalMillis(position))

  /**
   * How far the position is behind the newest visible record, in milliseconds. 0 means the tip, so
   * a visible record is at least 1 ms old.
   */
  def millisBehind(position: Long, now: Instant): Long =
    if (position >= visibleEnd(now)) 0
    else arrivalMillis(position).fold(0L)(at => math.max(1L, now.toEpochMilli - at))

  def sequenceNumber(position: Long): Option[SequenceNumber] =
    Option.when(holds(position))(records.sequenceNumber(position))

  /**
   * A page of at most `count` visible records and `bytes` bytes, but at least one record if there
   * is one.
   */
  def page(from: Long, count: Int, bytes: Int, now: Instant): RecordLog = {
    val start = (from - base).toInt
    val visible = math.max(visibleEnd(now) - from, 0)
    val candidates = records.slice(start, start + math.min(count.toLong, visible).toInt)
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
