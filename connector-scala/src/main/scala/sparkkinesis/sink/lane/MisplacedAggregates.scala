package sparkkinesis.sink.lane

import sparkkinesis.model.aggregate.UserRecords
import sparkkinesis.model.{HashKeyRange, ShardId, ShardMap}

/**
 * Aggregates that were written to another shard than was thought, until that shard is known. KCL
 * drops an aggregate whole where one of its records belongs to another shard than it lies in, and
 * so each is judged whole: good where it lies, or to be written anew.
 */
private[sink] final class MisplacedAggregates {
  import MisplacedAggregates._

  private var waiting = Vector.empty[Misplaced]

  def nonEmpty: Boolean = waiting.nonEmpty

  /**
   * @param lane which is held until the aggregate is judged: nothing may overtake it
   * @param sentAt in milliseconds
   */
  def add(record: PendingRecord, shard: ShardId, lane: Lane, sentAt: Long): Unit = {
    lane.hold()
    waiting :+= Misplaced(record, shard, Seq(lane), sentAt)
  }

  /** The stream's lanes are others by now: those are held to which the records belong. */
  def move(lanesOf: PendingRecord => Seq[Lane]): Unit = waiting = waiting.map { it =>
    it.lanes.foreach(_.release())
    val lanes = lanesOf(it.record)
    lanes.foreach(_.hold())
    it.copy(lanes = lanes)
  }

  /** Those whose shard is known: the good and the bad. */
  def judge(map: ShardMap): (Seq[PendingRecord], Seq[PendingRecord]) = {
    val (known, unknown) = waiting.partition(it => map.range(it.shard).isDefined)
    waiting = unknown
    known.foreach(_.lanes.foreach(_.release()))
    val (good, bad) = known.partition(it => map.range(it.shard).exists(holds(_, it.record)))
    bad.foreach { it =>
      val said = s"An aggregate landed in shard ${it.shard}, to which not all of it belongs."
      it.record.failed(it.sentAt, said, None)
    }
    (good.map(_.record), bad.map(_.record))
  }

  /** The first that was sent, and its shard. */
  def oldest: Option[(ShardId, Trouble)] = waiting.headOption.map { it =>
    val said = s"An aggregate landed in shard ${it.shard}, which is not listed."
    it.shard -> it.record.trouble.getOrElse(Trouble(it.sentAt, said, None))
  }

  private def holds(range: HashKeyRange, record: PendingRecord) =
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
