package sparkkinesis.source.plan

import sparkkinesis.source.protocol.{Mark, ReadLimits}

/** Keeps the number of a shard's marks small while a query reads far ahead. */
private[plan] object MarkMerging {
  private val MostMarks = 256

  /**
   * Joins neighbours of many marks: in the older half, because a batch that was just planned ends at one
   * of the latest marks.
   *
   * @param distance largest size of a joined mark
   */
  def bounded(marks: Vector[Mark], distance: ReadLimits): Vector[Mark] =
    if (marks.size <= MostMarks || !distance.allow(2, 0)) marks
    else {
      val (older, newer) = marks.splitAt(marks.size / 2)
      older.grouped(2).flatMap(joined(_, distance)).toVector ++ newer
    }

  private def joined(pair: Vector[Mark], distance: ReadLimits): Vector[Mark] = pair match {
    case Vector(one, next) if distance.allow(one.records + next.records, one.bytes + next.bytes) =>
      Vector(next.copy(records = one.records + next.records, bytes = one.bytes + next.bytes))
    case _ => pair
  }
}
