package sparkkinesis.sink.lane

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.model.ShardId
import sparkkinesis.sink.once.Hash128

/**
 * Records of unknown outcome: they are sent again only after a look into the stream. Their lane
 * counts them as in flight.
 *
 * @param acceptance after this time since they were sent, they are in the stream or never will be
 */
private[sink] final class Doubts(acceptance: FiniteDuration) {
  import Doubts._

  private var waiting = Vector.empty[Doubt]

  def nonEmpty: Boolean = waiting.nonEmpty

  def add(doubt: Doubt): Unit = waiting :+= doubt

  /** When the oldest may be looked up; `Never` if there is none. */
  def readyAt: Long =
    if (waiting.isEmpty) Lane.Never else waiting.map(_.sentAt).min + acceptance.toMillis

  /** The oldest, with its shard. */
  def oldest: Option[(ShardId, Failures)] =
    waiting.flatMap(it => it.failed.head.failures.map(it.lane.shard -> _)).headOption

  /**
   * Removes those that were sent long enough before the look into the stream.
   *
   * @param askedAt when the look began, in milliseconds
   */
  def resolve(askedAt: Long): Vector[Doubt] = {
    val (ready, young) = waiting.partition(_.sentAt + acceptance.toMillis <= askedAt)
    waiting = young
    ready
  }
}

private[sink] object Doubts {

  /**
   * The records of a lane in one request that Kinesis did not acknowledge, in their order.
   *
   * @param isUnknown whether the record may be in the stream; otherwise Kinesis refused it
   * @param isProgress whether Kinesis wrote some of the lane's records
   */
  final case class Doubt(
      lane: Lane,
      failed: Vector[PendingRecord],
      isUnknown: PendingRecord => Boolean,
      isProgress: Boolean,
      sentAt: Long
  ) {

    /**
     * @param found the aggregates in the stream
     * @return the records that are in the stream, and those that are not
     */
    def split(found: Set[Hash128]): (Vector[PendingRecord], Vector[PendingRecord]) =
      failed.partition(it => isUnknown(it) && found(Hash128.ofAggregate(it.entry.data)))
  }
}
