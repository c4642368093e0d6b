package sparkkinesis.source.plan

import java.time.Instant

import scala.annotation.tailrec
import scala.collection.immutable.SortedMap
import scala.concurrent.duration.FiniteDuration

import sparkkinesis.compat._
import sparkkinesis.model.offset.{Progress, ShardProgress, SourceOffset, StreamOffset}
import sparkkinesis.model.{ChildShard, PackedRecords, ShardId, StreamShard}
import sparkkinesis.source.protocol.{Frontier, Mark, ReadLimits, ShardRange}

/** Decides where a batch ends and what it reads. A function of its arguments, on every attempt. */
object BatchPlanner {

  /**
   * The end of the batch that starts at `start`; `start` itself where there is nothing new.
   *
   * @param frontiers of shards readable at `start`, each beginning where `start` says
   */
  def end(
      start: SourceOffset,
      frontiers: Map[StreamShard, Frontier],
      limits: ReadLimits
  ): SourceOffset = {
    val readable = start.readable
    val known = frontiers.filter { case (id, _) => readable.contains(id) }
    val taken = take(known.map { case (id, frontier) => id -> frontier.marks }, limits)
    if (taken.isEmpty) start
    else {
      val takenOf = taken.groupBy { case (id, _) => id.stream }
      SourceOffset(start.settled.streams.transform { (arn, settled) =>
        advance(settled, known, takenOf.getOrElse(arn, Map.empty))
      })
    }
  }

  /**
   * `start` with later times of completeness, where reading has proved one later by at least `step`
   * although nothing arrived; else `start`. An idle query logs that now and then: a restart can then
   * tell that nothing can have been trimmed unread.
   */
  def confirmed(
      start: SourceOffset,
      frontiers: Map[StreamShard, Frontier],
      step: FiniteDuration
  ): SourceOffset = {
    val proved = for {
      id <- start.readable.keys.toSeq
      frontier <- frontiers.get(id) if frontier.marks.isEmpty
      shard <- start.settled.shard(id)
      complete <- latest(None, frontier.completeAsOfMillis)
      if shard.completeAsOf.forall(_.plusMillis(step.toMillis).isBefore(complete))
    } yield id -> shard.copy(completeAsOf = Some(complete))
    if (proved.isEmpty) start
    else {
      val provedOf = proved.groupMap(_._1.stream) { case (id, shard) => id.shard -> shard }
      SourceOffset(start.settled.streams.transform { (arn, settled) =>
        settled.copy(shards = settled.shards ++ provedOf.getOrElse(arn, Nil))
      })
    }
  }

  /**
   * Whether so little is there, though much more is on its way, that a batch of it would cost more than
   * it brings. A shard that is behind but brings nothing does not count: the others need not wait for it.
   *
   * @param enough bytes that pages take in the executors' buffers
   */
  def isThin(frontiers: Map[StreamShard, Frontier], limits: ReadLimits, enough: Long): Boolean = {
    val isBacklog = frontiers.valuesIterator.exists { frontier =>
      frontier.marks.nonEmpty && frontier.millisBehindLatest > BacklogMillis
    }
    isBacklog && {
      val marks = frontiers.valuesIterator.flatMap(_.marks)
      val (records, bytes) = marks.foldLeft((0L, 0L)) { case ((records, bytes), mark) =>
        (records + mark.records, bytes + mark.bytes)
      }
      val held = bytes + records * PackedRecords.UsualOverhead
      records > 0 && held < enough && limits.allow(records + 1, bytes + 1)
    }
  }

  /** Behind the tip by more is a backlog; a shard that is read as it fills is not. */
  private val BacklogMillis = 1000L

  /** Whether nothing that had arrived at the time is left behind `start`. */
  def isDone(start: SourceOffset, frontiers: Map[StreamShard, Frontier], millis: Long): Boolean =
    start.readable.keys.forall { id =>
      frontiers.get(id).exists { frontier =>
        frontier.until(millis).marks.isEmpty && frontier.reaches(millis)
      }
    }

  /**
   * The ranges between two offsets, ordered by stream and shard. A stream that only one of the offsets
   * has joined or left the query between them: the batch reads nothing of it. A shard that only `end`
   * has is read by later batches.
   */
  def ranges(start: SourceOffset, end: SourceOffset): Seq[ShardRange] =
    for {
      (arn, before) <- start.streams.toSeq
      after <- end.streams.get(arn).toSeq
      _ = checkFollows(before, after)
      (id, from) <- before.shards.toSeq
      upTo <- after.shards.get(id).map(_.progress).filter(_ != from.progress)
    } yield ShardRange(StreamShard(arn, id), from.progress, upTo, from.completeAsOf)

  private def checkFollows(before: StreamOffset, after: StreamOffset): Unit = {
    val missing = before.readable.keys.find(!after.shards.contains(_))
    val unread = after.shards.collectFirst {
      case (id, shard) if !before.shards.contains(id) && shard.progress != Progress.TrimHorizon =>
        id
    }
    missing.foreach { id =>
      throw new IllegalArgumentException(s"Offset $after follows $before but lacks $id.")
    }
    unread.foreach { id =>
      throw new IllegalArgumentException(
        s"Offset $after follows $before, which lacks $id, and that shard was read between the two."
      )
    }
  }

  /**
   * How many marks of each shard fit. Rounds of one mark a shard, the oldest data first: no shard
   * starves, however much another one holds.
   */
  private def take(
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

  /** One stream's offset, behind what is taken of its shards, if anything is. */
  private def advance(
      settled: StreamOffset,
      frontiers: Map[StreamShard, Frontier],
      taken: Map[StreamShard, Int]
  ): StreamOffset = {
    val ends = taken.map { case (id, count) => id.shard -> Taken(frontiers(id), count) }
    // In one pass over the tree: ten thousand updates of it take longer than all the rest.
    val moved = settled.shards.transform { (id, before) =>
      ends.get(id) match {
        case Some(end) =>
          ShardProgress(end.mark.upTo, Set.empty, completeAsOf(before, end.frontier, end.count))
        case None => frontiers.get(StreamShard(settled.stream, id)).fold(before)(quiet(before, _))
      }
    }
    val finished = ends.filter { case (_, end) => end.mark.upTo == Progress.Finished }
    settled.copy(shards = finished.toSeq.sortBy(_._1).foldLeft(moved) { case (shards, (id, end)) =>
      end.frontier.children.foldLeft(shards)(withChild(moved(id).completeAsOf))
    })
  }

  /** Nothing arrived in it: the busy shards beside it must not keep that from being logged. */
  private def quiet(shard: ShardProgress, frontier: Frontier): ShardProgress =
    if (frontier.marks.nonEmpty) shard
    else shard.copy(completeAsOf = latest(shard.completeAsOf, frontier.completeAsOfMillis))

  /** @param count of the frontier's marks, at least one */
  private final case class Taken(frontier: Frontier, count: Int) {
    def mark: Mark = frontier.marks(count - 1)
  }

  /**
   * A child waits for every parent. One that the offset does not know is not a finished one: it
   * descends from a shard still being read, and is waited for until it comes and ends. (A parent
   * that ended earlier brought the child with it.)
   */
  private def withChild(parentCompleteAsOf: Option[Instant])(
      shards: SortedMap[ShardId, ShardProgress],
      child: ChildShard
  ): SortedMap[ShardId, ShardProgress] =
    if (shards.contains(child.id)) shards
    else {
      // It began after its parent's last record, so this is early enough for it, too.
      val unread = ShardProgress(Progress.TrimHorizon, child.parents.toSet, parentCompleteAsOf)
      shards.updated(child.id, unread)
    }

  /**
   * A shard whose marks were all taken is as complete as its frontier, another one only to its last
   * taken record.
   */
  private def completeAsOf(shard: ShardProgress, frontier: Frontier, taken: Int): Option[Instant] =
    latest(
      shard.completeAsOf,
      if (taken == frontier.marks.size) frontier.completeAsOfMillis
      else frontier.marks(taken - 1).lastArrivalMillis
    )

  /** @param millis 0 where unknown */
  private def latest(before: Option[Instant], millis: Long): Option[Instant] =
    before
      .filter(_.toEpochMilli >= millis)
      .orElse(Option.when(millis > 0)(Instant.ofEpochMilli(millis)))
}
