package sparkkinesis.source.plan

import scala.annotation.tailrec

import sparkkinesis.model.StreamShard
import sparkkinesis.source.protocol.{Mark, ReadLimits}

/** Selects the marks that one batch reads. */
private[plan] object MarkSelection {

  /**
   * How many marks of each shard fit into the limits. Takes one mark of each shard in turn, the
   * oldest data first, so that the backlog of one shard does not starve the others.
   */
  def fitting(
      marks: Map[StreamShard, Vector[Mark]],
      limits: ReadLimits
  ): Map[StreamShard, Int] =
    if (limits.isUnlimited) marks.collect { case (id, all) if all.nonEmpty => id -> all.size }
    else {
      @tailrec
      def round(
          open: Seq[StreamShard],
          taken: Map[StreamShard, Int],
          sum: (Long, Long)
      ): Map[StreamShard, Int] = {
        val next = open.filter(id => taken.getOrElse(id, 0) < marks(id).size).sortBy { id =>
          (marks(id)(taken.getOrElse(id, 0)).lastArrivalMillis, id)
        }
        val (nowTaken, nowSum, still) = next.foldLeft((taken, sum, Vector.empty[StreamShard])) {
          case ((counts, (records, bytes), fitting), id) =>
            val mark = marks(id)(counts.getOrElse(id, 0))
            val (r, b) = (records + mark.records, bytes + mark.bytes)
            if (counts.isEmpty || limits.allow(r, b))
              (counts.updated(id, counts.getOrElse(id, 0) + 1), (r, b), fitting :+ id)
            else (counts, (records, bytes), fitting)
        }
        if (still.isEmpty) nowTaken else round(still, nowTaken, nowSum)
      }
      round(marks.keys.toSeq, Map.empty, (0L, 0L))
    }
}
