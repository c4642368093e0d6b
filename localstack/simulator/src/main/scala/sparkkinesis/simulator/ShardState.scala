package sparkkinesis.simulator

import java.time.Instant

import scala.annotation.tailrec

import sparkkinesis.model._

/**
 * One shard and its records.
 *
 * A record's position is its index in the shard since the shard was made, trimmed records included.
 *
 * @param epoch seconds since 1970 that lead its sequence numbers: greater than the parents'
 * @param base the position of `records.head`
 */
private[simulator] final case class ShardState(
    number: Int,
    parents: Seq[ShardId],
    hashKeys: HashKeyRange,
    created: Instant,
    epoch: Long,
    closed: Option[Instant],
    base: Long,
    records: Vector[Record]
) {
  def id: ShardId = ShardState.id(number)

  def isOpen: Boolean = closed.isEmpty

  /** The position behind the newest record. */
  def end: Long = base + records.size

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
    val arrival = math.max(now.toEpochMilli, records.lastOption.fold(0L)(_.arrivalMillis))
    val number = SequenceParts(epoch, end + 1, arrival / 1000, this.number).number
    copy(records =
      records :+ Record(
        number,
        Some(entry.partitionKey).filter(_.nonEmpty),
        entry.data,
        arrival,
        encryptionType
      )
    )
  }

  /** Without the records that arrived before; cheap where there are none. */
  def trimmed(horizonMillis: Long): ShardState = {
    val dropped = indexOfFirst(_.arrivalMillis >= horizonMillis)
    if (dropped == 0) this else copy(base = base + dropped, records = records.drop(dropped))
  }

  /** The position of the first record that arrived then or later. */
  def positionAt(millis: Long): Long = base + indexOfFirst(_.arrivalMillis >= millis)

  def positionAt(number: SequenceNumber): Long = base + indexOfFirst(_.sequenceNumber >= number)

  def positionAfter(number: SequenceNumber): Long = base + indexOfFirst(_.sequenceNumber > number)

  def record(position: Long): Option[Record] = records.lift((position - base).toInt)

  /** Up to `count` records and `bytes` bytes, though at least one where there is one. */
  def page(from: Long, count: Int, bytes: Int): Vector[Record] = {
    val start = (from - base).toInt
    val candidates = records.slice(start, start + count)
    val fitting = ShardState.countWithin(candidates.iterator, bytes)
    if (fitting == candidates.size) candidates else candidates.take(math.max(fitting, 1))
  }

  private def lastNumber(at: Instant): SequenceNumber =
    SequenceParts(epoch, SequenceParts.LastIndex, at.getEpochSecond, number).number

  /** The index of the first record for which the condition holds, as it does for all behind. */
  private def indexOfFirst(condition: Record => Boolean): Int = {
    @tailrec def search(low: Int, high: Int): Int =
      if (low >= high) low
      else {
        val middle = (low + high) >>> 1
        if (condition(records(middle))) search(low, middle) else search(middle + 1, high)
      }
    if (records.headOption.forall(condition)) 0 else search(1, records.size)
  }
}

private[simulator] object ShardState {
  private val Name = "shardId-(\\d{12})".r

  def id(number: Int): ShardId = ShardId(f"shardId-$number%012d")

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
    ShardState(number, parents.map(_.id), hashKeys, now, epoch, None, 0, Vector.empty)
  }

  private def countWithin(records: Iterator[Record], bytes: Int): Int = {
    var left = bytes.toLong
    var count = 0
    while (left >= 0 && records.hasNext) {
      val record = records.next()
      left -= record.data.length + record.partitionKey.fold(0)(_.length)
      if (left >= 0) count += 1
    }
    count
  }
}
