package sparkkinesis.sink.lane

import sparkkinesis.model.aggregate.UserRecords
import sparkkinesis.model.{HashKeyRange, ShardId, ShardMap}

/**
 * Aggregates that Kinesis wrote to another shard than predicted, until that shard is listed.
 *
 * KCL drops a whole aggregate if one of its records belongs to another shard. So once the hash keys
 * of the shard are known, an aggregate either stays as it is or is sent again as a whole. This
 * concerns only aggregates whose records keep hash keys of their own, so that their keys stay in
 * order.
 */
private[sink] final class MisplacedAggregates {
  import MisplacedAggregates._

  private var waiting = Vector.empty[Misplaced]

  def nonEmpty: Boolean = waiting.nonEmpty

  /**
   * @param shard that Kinesis wrote the aggregate to
   * @param lane is held until the decision, so that no record overtakes the aggregate
   * @param sentAt in milliseconds
   */
  def add(record: PendingRecord, shard: ShardId, lane: Lane, sentAt: Long): Unit = {
    lane.hold()
    waiting :+= Misplaced(record, shard, Seq(lane), sentAt)
  }

  /** Holds the lanes that the records belong to after the lanes of the stream changed. */
  def moveHolds(lanesOf: PendingRecord => Seq[Lane]): Unit = waiting = waiting.map { it =>
    it.lanes.foreach(_.release())
    val lanes = lanesOf(it.record)
    lanes.foreach(_.hold())
    it.copy(lanes = lanes)
  }

  /**
   * Removes the aggregates whose shard is listed.
   *
   * @return those that can stay in their shard, and those that must be sent again
   */
  def resolve(shards: ShardMap): (Seq[PendingRecord], Seq[PendingRecord]) = {
    val (listed, unlisted) = waiting.partition(it => shards.range(it.shard).isDefined)
    waiting = unlisted
    listed.foreach(_.lanes.foreach(_.release()))
    val (valid, invalid) =
      listed.partition(it => shards.range(it.shard).exists(containsAll(_, it.record)))
    invalid.foreach { it =>
      val message =
        s"Kinesis wrote an aggregated record to shard ${it.shard}, but some of its records " +
          "belong to another shard."
      it.record.failed(it.sentAt, message, None, mayBeWritten = true)
    }
    (valid.map(_.record), invalid.map(_.record))
  }

  /** The aggregate that was sent first, with its shard. */
  def oldest: Option[(ShardId, Failures)] = waiting.headOption.map { it =>
    val message =
      s"Kinesis wrote an aggregated record to shard ${it.shard}, which ListShards does not show."
    val unlisted = Failures(it.sentAt, message, None, mayBeWritten = true)
    it.shard -> it.record.failures.getOrElse(unlisted)
  }

  private def containsAll(range: HashKeyRange, record: PendingRecord) =
    UserRecords.of(record.entry).forall(entry => range.contains(entry.hashKey))
}

private object MisplacedAggregates {
  private final case class Misplaced(
      record: PendingRecord,
      shard: ShardId,
      lanes: Seq[Lane],
      sentAt: Long
  )
}
