package sparkkinesis.source.protocol

import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{ChildShard, SequenceNumber}

/**
 * A place where a batch may end, with the size of the data since the previous mark.
 *
 * @param upTo `After` a record, or `Finished`
 * @param records since the previous mark; 0 only at the end of a shard
 * @param bytes of their data
 * @param lastArrivalMillis the latest arrival time of these records; 0 if there are none
 * @param firstArrivalMillis the arrival time of the first of them; 0 if it is unknown
 */
private[sparkkinesis] final case class Mark(
    upTo: Progress,
    records: Long,
    bytes: Long,
    lastArrivalMillis: Long,
    firstArrivalMillis: Long = 0
)

/**
 * How far executors have read one shard ahead of the last planned batch.
 *
 * @param marks after the end of that batch, in order
 * @param children of the shard, if the last mark is `Finished`
 * @param millisBehindLatest as Kinesis reports it with the last page
 * @param completeAsOfMillis `completeAsOf` of the shard after the last mark; 0 if unknown
 * @param first the shard's first record, if that batch has read nothing of the shard
 */
private[sparkkinesis] final case class Frontier(
    marks: Vector[Mark],
    children: Seq[ChildShard],
    millisBehindLatest: Long,
    completeAsOfMillis: Long,
    first: Option[SequenceNumber] = None
) {

  /** This frontier without the marks up to `progress`. */
  def after(progress: Progress): Frontier =
    marks.indexWhere(_.upTo == progress) match {
      case -1 => this
      case index => copy(marks = marks.drop(index + 1), first = None)
    }

  /** This frontier with only the first marks. */
  def take(count: Int): Frontier =
    if (count == marks.size) this
    else {
      val taken = marks.take(count)
      copy(marks = taken, completeAsOfMillis = taken.lastOption.fold(0L)(_.lastArrivalMillis))
    }

  /** The arrival time of the first record; 0 if it is unknown; `None` without a record. */
  def firstArrivalMillis: Option[Long] =
    marks.headOption.filter(_.records > 0).map(_.firstArrivalMillis)

  /** Whether the marks reach the end of the shard. */
  def isFinished: Boolean = marks.lastOption.exists(_.upTo == Progress.Finished)

  /** Whether the shard has a backlog. There is nothing more to wait for at its end. */
  def isBehind: Boolean = millisBehindLatest > Frontier.BacklogMillis && !isFinished
}

private[sparkkinesis] object Frontier {
  private val BacklogMillis = 1000L
}

/** The largest size of a batch. A batch takes at least one mark, whatever the limits are. */
private[sparkkinesis] final case class ReadLimits(
    maxRecords: Option[Long],
    maxBytes: Option[Long]
) {
  def isUnlimited: Boolean = maxRecords.isEmpty && maxBytes.isEmpty

  def allow(records: Long, bytes: Long): Boolean =
    maxRecords.forall(records <= _) && maxBytes.forall(bytes <= _)
}

private[sparkkinesis] object ReadLimits {
  val None: ReadLimits = ReadLimits(scala.None, scala.None)
}
