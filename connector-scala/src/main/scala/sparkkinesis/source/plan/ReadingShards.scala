package sparkkinesis.source.plan

import java.time.Instant

import sparkkinesis.compat._
import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.Progress
import sparkkinesis.shard.ShardRange
import sparkkinesis.source.protocol._

/**
 * A shard that an executor reads ahead.
 *
 * @param executor `None` while no executor reads the shard
 * @param generation of the assignment
 * @param from the planned progress, at which the frontier begins
 * @param frontier `None` before the first report
 * @param completeAsOf of the shard at `from`
 */
private final case class ReadingShard(
    executor: Option[String],
    generation: Long,
    from: Progress,
    frontier: Option[Frontier],
    completeAsOf: Option[Instant]
) {

  /** The progress up to which the shard has been read ahead. */
  def tip: Progress = frontier.flatMap(_.marks.lastOption).fold(from)(_.upTo)

  /** The marks of the range; empty if some of its marks are not known. */
  def marksOf(range: ShardRange): Vector[Mark] = {
    val all = frontier.filter(_ => from == range.from).fold(Vector.empty[Mark])(_.marks)
    all.take(all.indexWhere(_.upTo == range.upTo) + 1)
  }

  /**
   * The latest proven `completeAsOf`. The next executor finds by it whether records expired unread.
   */
  def provenCompleteAsOf: Option[Instant] = {
    val proved = frontier.filter(f => f.marks.isEmpty && f.completeAsOfMillis > 0)
    (completeAsOf ++ proved.map(f => Instant.ofEpochMilli(f.completeAsOfMillis))).maxOption
  }

  def isReadBy(other: String, since: Long): Boolean =
    executor.contains(other) && generation == since
}

/**
 * Which executor reads which shard ahead, and what it found: an immutable value. Executors have
 * about the same number of shards. A shard stays with its executor until the executor is lost or
 * has too many.
 *
 * @param generations number of assignments so far: each has a generation of its own
 * @param known what was found, the shards without an executor, and the shards of each executor.
 *   Present if only a report has changed: to find them again would take time for each shard
 */
private final class ReadingShards private (
    val shards: Map[StreamShard, ReadingShard],
    val generations: Long,
    known: Option[(Found, Vector[StreamShard], Map[String, Vector[StreamShard]])]
) {

  /** Always the same object while nothing changes. */
  lazy val found: Found = known.fold(
    Found.of(shards.flatMap { case (id, shard) => shard.frontier.map(id -> _) })
  )(_._1)

  /** The shards that no executor reads. */
  private lazy val unread: Vector[StreamShard] = known.fold(
    shards.iterator.collect { case (id, shard) if shard.executor.isEmpty => id }.toVector
  )(_._2)

  /** The shards of each executor. Its plan takes time for its own shards only. */
  lazy val owned: Map[String, Vector[StreamShard]] = known.fold(
    shards.toVector.flatMap { case (id, shard) => shard.executor.map(_ -> id) }.groupMap(_._1)(_._2)
  )(_._3)

  /**
   * Exactly the wanted shards, each from its new progress. If that is one of the marks, the later
   * marks remain. Otherwise an earlier run has planned it, and the shard is read again from there.
   *
   * @param completeAsOf of a shard at its new progress, according to the offset
   */
  def movedTo(
      wanted: Map[StreamShard, Progress],
      completeAsOf: StreamShard => Option[Instant] = _ => None
  ): ReadingShards = {
    val moved = wanted.map { case (id, from) =>
      val known = shards.get(id).flatMap { shard =>
        if (shard.from == from) Some(shard)
        else
          shard.frontier
            .filter(_.marks.exists(_.upTo == from))
            .map(frontier => shard.copy(from = from, frontier = Some(frontier.after(from))))
      }
      val shard = known.getOrElse(ReadingShards.unassigned(from, None))
      id -> shard.copy(completeAsOf = (shard.completeAsOf ++ completeAsOf(id)).maxOption)
    }
    changed(moved)
  }

  /** Assigns each shard without an executor to the executor with the fewest shards. */
  def assigned(executors: Set[String]): ReadingShards =
    if (executors.isEmpty || unread.isEmpty) this
    else {
      val load = executors.map(id => id -> owned.get(id).fold(0)(_.size)).toMap
      unread.sorted
        .foldLeft((this, load)) { case ((all, counts), id) =>
          val executor = counts.minBy(_.swap)._1
          (all.withReader(id, executor), counts.updated(executor, counts(executor) + 1))
        }
        ._1
    }

  private def withReader(id: StreamShard, executor: String): ReadingShards = {
    val next = generations + 1
    val assigned = shards(id).copy(executor = Some(executor), generation = next, frontier = None)
    changed(shards.updated(id, assigned), next)
  }

  /** Takes from each executor the shards beyond its fair share, for a new executor. */
  def balanced(executors: Int): ReadingShards = {
    val fair = math.ceil(shards.size.toDouble / executors).toInt
    unassigned(owned.values.filter(_.size > fair).flatMap(_.sorted.drop(fair)))
  }

  /** Takes all shards from these executors. */
  def without(executors: Set[String]): ReadingShards =
    unassigned(executors.toVector.flatMap(owned.getOrElse(_, Vector.empty)))

  /**
   * Takes these shards from their executors. It does not look at the other shards: a thousand
   * executors may join at the same time.
   */
  private def unassigned(taken: Iterable[StreamShard]): ReadingShards =
    if (taken.isEmpty) this
    else
      changed(taken.foldLeft(shards) { (all, id) =>
        val shard = all(id)
        all.updated(id, ReadingShards.unassigned(shard.from, shard.provenCompleteAsOf))
      })

  private def changed(shards: Map[StreamShard, ReadingShard], generations: Long = generations) =
    new ReadingShards(shards, generations, known = None)

  /**
   * Adds the report of an executor. Ignores a report that it has already. If an earlier report is
   * missing, the shard needs a new assignment.
   *
   * @param distance largest size of a mark that stands for several ones
   * @param end of the batch in this shard that was found last
   */
  def reported(
      executor: String,
      report: FetchReport,
      distance: ReadLimits = ReadLimits.None,
      end: Option[Progress] = None
  ): ReadingShards =
    shards.get(report.shard).filter(_.isReadBy(executor, report.generation)) match {
      case Some(shard) if report.from == shard.tip =>
        def bounded(marks: Vector[Mark]) =
          MarkMerging.bounded(marks, MarkBudget.ofShard(shards.size), distance, end)
        extended(report.shard, ReadingShards.extended(shard, report, bounded))
      case Some(shard) if !ReadingShards.isKnown(report, shard.tip) =>
        unassigned(Vector(report.shard))
      case _ => this
    }

  private def extended(id: StreamShard, shard: ReadingShard): ReadingShards = {
    val more = shard.frontier.fold(found)(found.updated(id, _))
    new ReadingShards(shards.updated(id, shard), generations, Some((more, unread, owned)))
  }

  /** Whether the executor still reads the shard that failed. */
  def isOf(executor: String, failure: FetchFailure): Boolean =
    shards.get(failure.shard).exists(_.isReadBy(executor, failure.generation))

  /**
   * An executor drops all pages of a shard that is now assigned to another one.
   *
   * @param processed for each shard, the position up to which its executor may drop pages
   * @param ended the same for shards that no executor reads any more; all executors receive these
   * @param closed shards that are listed as closed
   */
  def plan(
      executor: String,
      processed: Map[StreamShard, Progress],
      ended: Map[StreamShard, Progress],
      closed: Set[StreamShard]
  ): FetchPlan = {
    val own = owned.getOrElse(executor, Vector.empty)
    val assignments = own.map { id =>
      val shard = shards(id)
      Assignment(id, shard.generation, shard.from, shard.provenCompleteAsOf, closed(id))
    }
    FetchPlan(assignments, ended ++ own.flatMap(id => processed.get(id).map(id -> _)), shards.size)
  }
}

private object ReadingShards {
  val Empty: ReadingShards = new ReadingShards(Map.empty, 0, known = None)

  private def unassigned(from: Progress, completeAsOf: Option[Instant]): ReadingShard =
    ReadingShard(None, 0, from, None, completeAsOf)

  private def extended(
      shard: ReadingShard,
      report: FetchReport,
      bounded: Vector[Mark] => Vector[Mark]
  ): ReadingShard = {
    val before = shard.frontier.getOrElse(Frontier(Vector.empty, Seq.empty, 0, 0))
    val frontier = Frontier(
      bounded(before.marks ++ report.marks),
      report.children,
      report.millisBehindLatest,
      math.max(before.completeAsOfMillis, report.completeAsOfMillis),
      before.first.orElse(report.first)
    )
    shard.copy(frontier = Some(frontier), completeAsOf = shard.provenCompleteAsOf)
  }

  /** Whether the same report arrived before: it ends at or before the tip. */
  private def isKnown(report: FetchReport, tip: Progress): Boolean =
    !isBehind(report.marks.lastOption.fold(report.from)(_.upTo), tip)

  private def isBehind(progress: Progress, tip: Progress): Boolean = (progress, tip) match {
    case (Progress.After(one), Progress.After(other)) => one > other
    case (Progress.Finished, other) => other != Progress.Finished
    case (Progress.After(_), other) => other != Progress.Finished
    case (_: Progress.AtTimestamp | _: Progress.From | Progress.TrimHorizon, _) => false
  }
}
