package sparkkinesis.source.plan

import java.time.Instant

import sparkkinesis.compat._
import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.Progress
import sparkkinesis.source.protocol._

/**
 * One shard that is read ahead.
 *
 * @param executor that does so; none for the moment where none is there
 * @param generation of its assignment
 * @param from where the frontier begins: the planned position
 * @param frontier none before the first report
 * @param completeAsOf all that had arrived in the shard before lies before `from`, as far as was known
 *   when the frontier began
 */
final case class ReadingShard(
    executor: Option[String],
    generation: Long,
    from: Progress,
    frontier: Option[Frontier],
    completeAsOf: Option[Instant]
) {

  /** How far it is known. */
  def tip: Progress = frontier.flatMap(_.marks.lastOption).fold(from)(_.upTo)

  /** What is known of the range; none where that is not all of it. */
  def marksOf(range: ShardRange): Vector[Mark] = {
    val all = frontier.filter(_ => from == range.from).fold(Vector.empty[Mark])(_.marks)
    all.take(all.indexWhere(_.upTo == range.upTo) + 1)
  }

  /** The same as far as is known now: whoever takes over will notice by it what was trimmed meanwhile. */
  def complete: Option[Instant] = {
    val proved = frontier.filter(f => f.marks.isEmpty && f.completeAsOfMillis > 0)
    (completeAsOf ++ proved.map(f => Instant.ofEpochMilli(f.completeAsOfMillis))).maxOption
  }

  def isReadBy(other: String, since: Long): Boolean =
    executor.contains(other) && generation == since
}

/**
 * Who reads what ahead, and what was found: a value. Executors have evenly many shards; one stays with
 * its executor until that is lost or has too many.
 *
 * @param generations given out so far: no two assignments have the same
 */
final case class ReadingShards(shards: Map[StreamShard, ReadingShard], generations: Long) {

  /**
   * Exactly the wanted shards, each from its new position. That is normally one of the marks: then
   * what lies behind it stays. Where it is not, an earlier run has planned it: read anew.
   *
   * @param completeAsOf what the offset says of a shard at its new position
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
    copy(shards = moved)
  }

  /** Each shard that nobody reads goes to the executor with the fewest. */
  def assigned(executors: Set[String]): ReadingShards =
    if (executors.isEmpty || shards.valuesIterator.forall(_.executor.nonEmpty)) this
    else {
      val load = executors.map(id => id -> shards.values.count(_.executor.contains(id))).toMap
      val missing = shards.collect { case (id, shard) if shard.executor.isEmpty => id }.toSeq.sorted
      missing
        .foldLeft((this, load)) { case ((all, counts), id) =>
          val executor = counts.minBy(_.swap)._1
          (all.withReader(id, executor), counts.updated(executor, counts(executor) + 1))
        }
        ._1
    }

  private def withReader(id: StreamShard, executor: String): ReadingShards = {
    val next = generations + 1
    val begun = shards(id).copy(executor = Some(executor), generation = next, frontier = None)
    ReadingShards(shards.updated(id, begun), next)
  }

  /** Without what any executor has beyond its fair share: for a new one. */
  def evened(executors: Int): ReadingShards = {
    val fair = math.ceil(shards.size.toDouble / executors).toInt
    val owned = shards.toSeq.flatMap { case (id, shard) => shard.executor.map(_ -> id) }
    val excess = owned.groupMap(_._1)(_._2).values.flatMap(_.sorted.drop(fair)).toSet
    takenBack((id, _) => excess(id))
  }

  /** These executors read nothing any more. */
  def without(executors: Set[String]): ReadingShards =
    takenBack((_, shard) => shard.executor.exists(executors))

  private def takenBack(isTaken: (StreamShard, ReadingShard) => Boolean): ReadingShards =
    copy(shards = shards.map { case (id, shard) =>
      id -> (if (isTaken(id, shard)) ReadingShards.unassigned(shard.from, shard.complete)
             else shard)
    })

  /**
   * With what an executor found. What is known already is not counted again; where something between
   * is missing, the shard must be assigned anew.
   */
  def reported(executor: String, report: FetchReport): ReadingShards =
    shards.get(report.shard).filter(_.isReadBy(executor, report.generation)) match {
      case Some(shard) if report.from == shard.tip =>
        copy(shards = shards.updated(report.shard, ReadingShards.extended(shard, report)))
      case Some(shard) if !ReadingShards.isKnown(report, shard.tip) =>
        takenBack((id, _) => id == report.shard)
      case _ => this
    }

  /** Whether it concerns a shard that the executor still reads. */
  def isOf(executor: String, failure: FetchFailure): Boolean =
    shards.get(failure.shard).exists(_.isReadBy(executor, failure.generation))

  /** The very same map each time: who has seen it need not look again. */
  lazy val frontiers: Map[StreamShard, Frontier] =
    shards.flatMap { case (id, shard) => shard.frontier.map(id -> _) }

  def of(executor: String): Vector[Assignment] =
    shards.collect {
      case (id, shard) if shard.executor.contains(executor) =>
        Assignment(id, shard.generation, shard.from, shard.complete)
    }.toVector
}

object ReadingShards {
  val Empty: ReadingShards = ReadingShards(Map.empty, 0)

  private def unassigned(from: Progress, completeAsOf: Option[Instant]): ReadingShard =
    ReadingShard(None, 0, from, None, completeAsOf)

  private def extended(shard: ReadingShard, report: FetchReport): ReadingShard = {
    val before = shard.frontier.getOrElse(Frontier(Vector.empty, Seq.empty, 0, 0))
    val frontier = Frontier(
      before.marks ++ report.marks,
      report.children,
      report.millisBehindLatest,
      math.max(before.completeAsOfMillis, report.completeAsOfMillis)
    )
    shard.copy(frontier = Some(frontier), completeAsOf = shard.complete)
  }

  /** Sent twice: it ends where others have been already. */
  private def isKnown(report: FetchReport, tip: Progress): Boolean =
    !isBehind(report.marks.lastOption.fold(report.from)(_.upTo), tip)

  private def isBehind(progress: Progress, tip: Progress): Boolean = (progress, tip) match {
    case (Progress.After(one), Progress.After(other)) => one > other
    case (Progress.Finished, other) => other != Progress.Finished
    case (Progress.After(_), other) => other != Progress.Finished
    case (_: Progress.AtTimestamp | _: Progress.From | Progress.TrimHorizon, _) => false
  }
}
