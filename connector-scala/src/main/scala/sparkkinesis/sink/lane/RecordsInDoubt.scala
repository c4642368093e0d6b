package sparkkinesis.sink.lane

import scala.collection.mutable

import sparkkinesis.compat._
import sparkkinesis.model.{SequenceNumber, ShardId}
import sparkkinesis.sink.once.{Hash128, OnceTerms, ShardInDoubt}

/**
 * Records of unknown outcome: they are sent again only after a look into the stream. Their lane
 * counts them as in flight.
 */
private[sink] final class RecordsInDoubt(terms: OnceTerms) {
  import RecordsInDoubt._

  private val acceptance = terms.acceptance.toMillis
  private var waiting = Vector.empty[Waiting]
  private val landmarks = mutable.Map.empty[ShardId, Vector[Landmark]]

  def add(part: FailedPart): Unit = {
    val before = part.sentAt - terms.visible.toMillis
    val landmark = landmarks.get(part.lane.shard).flatMap {
      _.reverseIterator.find(_.at <= before)
    }
    waiting :+= Waiting(part, landmark.map(_.number), isAsked = false, held = Nil)
  }

  /**
   * The lanes of the stream changed. If the lane of records in doubt has ended, holds the lanes
   * that these records belong to now, so that no later record overtakes them.
   */
  def moveHolds(lanes: LaneSet): Unit = waiting = waiting.map { it =>
    it.held.foreach(_.release())
    val held =
      if (lanes.contains(it.part.lane)) Nil else it.part.records.flatMap(lanes.lanesOf).distinct
    held.foreach(_.hold())
    it.copy(held = held)
  }

  /** Kinesis acknowledged a record in this shard. A look for a later one begins after it. */
  def acknowledged(shard: ShardId, number: SequenceNumber, now: Long): Unit = {
    val known = landmarks.getOrElse(shard, Vector.empty)
    if (known.lastOption.forall(_.at + LandmarkPeriod <= now)) {
      val (old, young) = known.partition(_.at < now - acceptance - terms.visible.toMillis)
      landmarks(shard) = (old.lastOption ++: young) :+ Landmark(number, now)
    }
  }

  /** A look begins: the shards of records that were sent long enough ago. */
  def beginLook(now: Long): Seq[ShardInDoubt] = {
    waiting = waiting.map(it => it.copy(isAsked = it.part.sentAt + acceptance <= now))
    waiting.filter(_.isAsked).groupBy(_.part.lane.shard).toSeq.map { case (shard, all) =>
      val first = all.minBy(_.part.sentAt)
      ShardInDoubt(shard, now - first.part.sentAt, first.after)
    }
  }

  /** When the oldest may be looked up; `Never` if there is none. */
  def readyAt: Long =
    if (waiting.isEmpty) Lane.Never else waiting.map(_.part.sentAt).min + acceptance

  /** The record that was sent first, with its shard. */
  def oldest: Option[(ShardId, Failures)] = {
    val all =
      for (it <- waiting.map(_.part); record <- it.records; failure <- record.failures)
        yield it.lane.shard -> failure
    all.minByOption(_._2.sentAt)
  }

  /**
   * Removes those that the last look was for. The time of the look counts towards no
   * `deliveryTimeout`: the driver limits it.
   *
   * @param askedAt when the look began, in milliseconds
   */
  def resolve(askedAt: Long, now: Long): Vector[FailedPart] = {
    for (it <- waiting.map(_.part); record <- it.records)
      record.postpone(now - math.max(askedAt, it.sentAt))
    val (resolved, others) = waiting.partition(_.isAsked)
    waiting = others
    resolved.flatMap(_.held).foreach(_.release())
    resolved.map(_.part)
  }
}

private[sink] object RecordsInDoubt {

  /** Milliseconds between two acknowledged records of a shard that are remembered. */
  private val LandmarkPeriod = 5000L

  /** A record that was acknowledged at that time. */
  private final case class Landmark(number: SequenceNumber, at: Long)

  /**
   * @param after a record of the shard that comes before those in doubt, if one is known
   * @param isAsked whether the look in progress is for it
   * @param held lanes that send nothing until it is resolved, if order matters
   */
  private final case class Waiting(
      part: FailedPart,
      after: Option[SequenceNumber],
      isAsked: Boolean,
      held: Seq[Lane]
  )

  /**
   * The records of a lane in one request that Kinesis did not acknowledge, in their order.
   *
   * @param isUnknown whether the record may be in the stream; otherwise Kinesis refused it
   * @param isProgress whether Kinesis wrote some of the lane's records
   */
  final case class FailedPart(
      lane: Lane,
      records: Vector[PendingRecord],
      isUnknown: PendingRecord => Boolean,
      isProgress: Boolean,
      sentAt: Long
  ) {

    /**
     * @param found the aggregates in the stream
     * @return the records that are in the stream, and those that are not
     */
    def split(found: Set[Hash128]): (Vector[PendingRecord], Vector[PendingRecord]) =
      records.partition(it => isUnknown(it) && found(Hash128.ofAggregate(it.entry.data)))
  }
}
