package sparkkinesis.source.plan

import java.time.Instant

import scala.annotation.tailrec
import scala.collection.immutable.SortedMap
import scala.concurrent.duration.FiniteDuration

import sparkkinesis.compat._
import sparkkinesis.model.offset.{Progress, ShardProgress, SourceOffset, StreamOffset}
import sparkkinesis.model.{ChildShard, ShardId, StreamShard}
import sparkkinesis.shard.{ShardRange, SourceException}
import sparkkinesis.source.protocol.{Frontier, Mark, ReadLimits}

/** Decides where a batch ends and what it reads. The same arguments always give the same result. */
private[sparkkinesis] object BatchPlanner {

  /**
   * The end of the batch that starts at `start`; `start` itself if there is nothing new.
   *
   * @param frontiers of the shards that are readable at `start`; each begins at its progress there
   */
  def end(
      start: SourceOffset,
      frontiers: Map[StreamShard, Frontier],
      limits: ReadLimits
  ): SourceOffset = {
    val readable = start.readable
    val known = frontiers.filter { case (id, _) => readable.contains(id) }
    val taken = MarkSelection.fitting(known.transform((_, frontier) => frontier.marks), limits)
    if (taken.isEmpty) start
    else {
      val takenOf = taken.groupBy { case (id, _) => id.stream }
      SourceOffset(start.settled.streams.transform { (arn, settled) =>
        advance(settled, known, takenOf.getOrElse(arn, Map.empty))
      })
    }
  }

  /**
   * `start` with later values of `completeAsOf` for all shards in which nothing arrived, if one of
   * them is later by at least `step`; else `start` itself. An idle query logs this from time to
   * time, so that a restart knows that no unread record has expired.
   */
  def confirmed(
      start: SourceOffset,
      frontiers: Map[StreamShard, Frontier],
      step: FiniteDuration
  ): SourceOffset = {
    def later(by: Long) = for {
      id <- start.readable.keysIterator
      frontier <- frontiers.get(id).iterator if frontier.marks.isEmpty
      shard <- start.settled.shard(id).iterator
      complete <- latest(None, frontier.completeAsOfMillis).iterator
      if shard.completeAsOf.forall(_.plusMillis(by).isBefore(complete))
    } yield id -> shard.copy(completeAsOf = Some(complete))
    if (later(step.toMillis).isEmpty) start
    else {
      val proved = later(0).toSeq
      val provedOf = proved.groupMap(_._1.stream) { case (id, shard) => id.shard -> shard }
      SourceOffset(start.settled.streams.transform { (arn, settled) =>
        settled.copy(shards = settled.shards ++ provedOf.getOrElse(arn, Nil))
      })
    }
  }

  /**
   * Whether batches have taken all that executors read in a run with a stop time: up to the tip of
   * each shard, or up to a record that arrived too late.
   */
  def isDone(start: SourceOffset, frontiers: Map[StreamShard, Frontier]): Boolean =
    start.readable.keys.forall {
      frontiers.get(_).exists(it => it.marks.isEmpty && it.millisBehindLatest == 0)
    }

  /**
   * The ranges between two offsets, ordered by stream and shard. A stream that only one of the
   * offsets has joined or left the query between them: the batch reads nothing of it. A shard that
   * only `end` has is read by later batches.
   */
  def ranges(start: SourceOffset, end: SourceOffset): Seq[ShardRange] =
    for {
      (arn, before) <- start.streams.toSeq
      after <- end.streams.get(arn).toSeq
      _ = checkFollows(before, after)
      (id, from) <- before.shards.toSeq
      to <- after.shards.get(id).filter(_.progress != from.progress)
    } yield {
      val first = to.first.filter(_ => Progress.isStart(from.progress))
      val shard = StreamShard(arn, id)
      ShardRange(shard, from.progress, to.progress, from.completeAsOf, first = first)
    }

  private def checkFollows(before: StreamOffset, after: StreamOffset): Unit = {
    val missing = before.readable.keys.find(!after.shards.contains(_))
    val unread = after.shards.collectFirst {
      case (id, shard) if !before.shards.contains(id) && shard.progress != Progress.TrimHorizon =>
        id
    }
    missing.foreach(refuse(_, after, "its start contains the shard, but its end does not"))
    unread.foreach(refuse(_, after, "its end is in the shard, but its start does not contain it"))
  }

  private def refuse(id: ShardId, end: StreamOffset, problem: String): Nothing =
    throw new SourceException(
      "KINESIS_BATCH_UNREADABLE",
      s"The checkpoint contains a batch of stream ${end.stream}, $id, that cannot be read: " +
        s"$problem. If another version of spark-kinesis planned the batch, run the query with " +
        "that version until the batch is done. Otherwise use a new checkpoint location."
    )

  /** The offset of one stream after the taken marks. */
  private def advance(
      settled: StreamOffset,
      frontiers: Map[StreamShard, Frontier],
      taken: Map[StreamShard, Int]
  ): StreamOffset = {
    val ends = taken.map { case (id, count) => id.shard -> Taken(frontiers(id), count) }
    // The map changes in one pass: ten thousand single updates would take longer than all else.
    val moved = settled.shards.transform { (id, before) =>
      ends.get(id) match {
        case Some(end) =>
          ShardProgress(
            end.mark.upTo,
            Set.empty,
            completeAsOf(before, end.frontier, end.count),
            end.frontier.first.filter(_ => Progress.isStart(before.progress))
          )
        case None =>
          frontiers.get(StreamShard(settled.stream, id)).fold(before)(confirmed(before, _))
      }
    }
    val finished = ends.filter { case (_, end) => end.mark.upTo == Progress.Finished }
    settled.copy(shards = finished.toSeq.sortBy(_._1).foldLeft(moved) { case (shards, (id, end)) =>
      end.frontier.children.foldLeft(shards)(withChild(moved(id).completeAsOf))
    })
  }

  /** A shard in which nothing arrived: log this together with the progress of the other shards. */
  private def confirmed(shard: ShardProgress, frontier: Frontier): ShardProgress =
    if (frontier.marks.nonEmpty) shard
    else shard.copy(completeAsOf = latest(shard.completeAsOf, frontier.completeAsOfMillis))

  /** @param count number of taken marks, at least one */
  private final case class Taken(frontier: Frontier, count: Int) {
    def mark: Mark = frontier.marks(count - 1)
  }

  /**
   * A child waits for every parent. A parent that the offset lacks is not finished: it descends
   * from a shard that is still being read, and joins the offset later. (A parent that finished
   * earlier has added the child already.) If a parent was empty, the other one says what is
   * complete.
   */
  private def withChild(parentCompleteAsOf: Option[Instant])(
      shards: SortedMap[ShardId, ShardProgress],
      child: ChildShard
  ): SortedMap[ShardId, ShardProgress] = {
    // The child began after the last record of each parent, so no record of it arrived before.
    val unread = shards.getOrElse(
      child.id,
      ShardProgress(Progress.TrimHorizon, child.parents.toSet)
    )
    val complete = (unread.completeAsOf ++ parentCompleteAsOf).maxOption
    shards.updated(child.id, unread.copy(completeAsOf = complete))
  }

  /**
   * `completeAsOf` of a shard after the taken marks: that of its frontier if all marks were taken,
   * else the arrival of the last taken record.
   */
  private def completeAsOf(shard: ShardProgress, frontier: Frontier, taken: Int): Option[Instant] =
    latest(
      shard.completeAsOf,
      if (taken == frontier.marks.size) frontier.completeAsOfMillis
      else frontier.marks(taken - 1).lastArrivalMillis
    )

  /** @param millis 0 if unknown */
  private def latest(before: Option[Instant], millis: Long): Option[Instant] =
    before
      .filter(_.toEpochMilli >= millis)
      .orElse(Option.when(millis > 0)(Instant.ofEpochMilli(millis)))
}

/** Selects the marks that one batch reads. */
private object MarkSelection {

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
