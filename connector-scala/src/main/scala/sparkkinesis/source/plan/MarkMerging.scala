package sparkkinesis.source.plan

import sparkkinesis.model.offset.Progress
import sparkkinesis.source.protocol.{Mark, ReadLimits}

/** Keeps the number of a shard's marks small while a query reads far ahead. */
private[plan] object MarkMerging {

  /** Most marks of a shard: more marks make no batch better. */
  private val MostMarks = 256

  /**
   * Joins neighbours of many marks, in the older half. Keeps the end of a batch that is being
   * planned: without its mark, the shard would be read again from there.
   *
   * @param most number of marks; a shard has no more than 256
   * @param distance largest size of a joined mark
   * @param end of the batch that was found last
   */
  def bounded(
      marks: Vector[Mark],
      most: Int,
      distance: ReadLimits,
      end: Option[Progress]
  ): Vector[Mark] =
    if (marks.size <= math.min(most, MostMarks) || !distance.allow(2, 0)) marks
    else {
      val (older, newer) = marks.splitAt(marks.size / 2)
      older.grouped(2).flatMap(joined(_, distance, end)).toVector ++ newer
    }

  private def joined(
      pair: Vector[Mark],
      distance: ReadLimits,
      end: Option[Progress]
  ): Vector[Mark] = pair match {
    case Vector(one, next)
        if distance.allow(one.records + next.records, one.bytes + next.bytes) &&
          !end.contains(one.upTo) =>
      val latest = math.max(one.lastArrivalMillis, next.lastArrivalMillis)
      val (records, bytes) = (one.records + next.records, one.bytes + next.bytes)
      Vector(Mark(next.upTo, records, bytes, latest, one.firstArrivalMillis))
    case _ => pair
  }
}
