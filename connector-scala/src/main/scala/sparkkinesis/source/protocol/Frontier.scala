package sparkkinesis.source.protocol

import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{ChildShard, StreamShard}

/**
 * A place where a batch may end, and what lies between the mark before and this one.
 *
 * @param upTo `After` a record or `Finished`
 * @param records from the mark before, which may be 0 only where the shard ends
 * @param bytes of their data
 * @param lastArrivalMillis of the last record; of the mark before where there is none
 */
final case class Mark(upTo: Progress, records: Long, bytes: Long, lastArrivalMillis: Long)

/**
 * How far reading has run ahead of planning in one shard.
 *
 * @param marks what is known behind the last planned position, in order
 * @param children once the last mark is `Finished`
 * @param millisBehindLatest the service's own, of the last page
 * @param completeAsOfMillis all that arrived before is in the marks or before them
 */
final case class Frontier(
    marks: Vector[Mark],
    children: Seq[ChildShard],
    millisBehindLatest: Long,
    completeAsOfMillis: Long
) {

  /** Without the marks up to `progress`: they are planned. */
  def after(progress: Progress): Frontier =
    marks.indexWhere(_.upTo == progress) match {
      case -1 => this
      case index => copy(marks = marks.drop(index + 1))
    }

  /** Without what arrived after the time, and all behind it. */
  def until(millis: Long): Frontier = copy(
    marks = marks.takeWhile(_.lastArrivalMillis <= millis),
    completeAsOfMillis = math.min(completeAsOfMillis, millis)
  )

  /** Whether all that had arrived at the time is in the marks, given that reading began after it. */
  def reaches(millis: Long): Boolean =
    millisBehindLatest == 0 || isFinished || marks.exists(_.lastArrivalMillis > millis)

  /** Whether the marks go to the shard's end. */
  def isFinished: Boolean = marks.lastOption.exists(_.upTo == Progress.Finished)
}

object Frontier {

  /** Each without what arrived after the time; see [[Frontier.until]]. */
  def until(
      frontiers: Map[StreamShard, Frontier],
      millis: Long
  ): Map[StreamShard, Frontier] = frontiers.transform((_, frontier) => frontier.until(millis))
}

/** How much a batch may hold. At least one mark is always taken, or nothing would ever move. */
final case class ReadLimits(maxRecords: Option[Long], maxBytes: Option[Long]) {
  def isUnlimited: Boolean = maxRecords.isEmpty && maxBytes.isEmpty

  def allow(records: Long, bytes: Long): Boolean =
    maxRecords.forall(records <= _) && maxBytes.forall(bytes <= _)
}

object ReadLimits {
  val None: ReadLimits = ReadLimits(scala.None, scala.None)
}
