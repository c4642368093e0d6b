package sparkkinesis.source.plan

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.compat._
import sparkkinesis.model.offset.{Progress, SourceOffset}
import sparkkinesis.model.{StreamArn, StreamShard}
import sparkkinesis.shard.ShardRange
import sparkkinesis.source.protocol._

/**
 * Decides which executor reads which shard ahead, and knows how far they have read. Runs on the
 * driver, on one thread at a time.
 *
 * A shard stays with its executor until the executor is lost, a report is missing, or an executor
 * joins and gets its share. The reports of executors matter for speed only: tasks read a planned
 * range again from Kinesis if its pages are gone.
 *
 * @param distance between marks, if there are very many
 */
private[sparkkinesis] final class ReadAhead(
    executors: ExecutorTable,
    distance: ReadLimits = ReadLimits.None
) {
  import ReadAhead._

  private var batchStart: Option[SourceOffset] = None // of the last planned batch
  private var batchEnd: Option[SourceOffset] = None
  private var processed: Map[StreamShard, Progress] = Map.empty // progress at `batchStart`
  private var ended: Map[StreamShard, Progress] = Map.empty // of processed shards without a reader
  private var running: Map[StreamShard, Long] = Map.empty // see `waiting`, of the running batch
  private var nextEnd: Map[StreamShard, Progress] = Map.empty // of the batch that was found last
  private var reading = ReadingShards.Empty
  private var closedShards = 0L
  private var version = 0L
  private var isUneven = false // an executor has joined
  private var idleSince = Map.empty[String, Long] // executors that are not needed, by the tick
  private var closed = Set.empty[StreamShard] // listed as closed

  /**
   * Moves on after a batch is planned: executors read ahead from `end`, and may drop pages before
   * `start`.
   */
  def advance(start: SourceOffset, end: SourceOffset): Unit =
    if (!batchEnd.contains(end) || !batchStart.contains(start)) move(start, end)

  private def move(start: SourceOffset, end: SourceOffset): Unit = {
    closedShards += ShardCounts.closedBetween(batchEnd.getOrElse(start), end)
    running = if (start == end) Map.empty else arrivals(start, end)
    batchStart = Some(start)
    batchEnd = Some(end)
    processed = start.progress
    reading = reading.movedTo(end.readable, end.shard(_).flatMap(_.completeAsOf))
    ended = processed -- reading.shards.keySet
    version += 1
    assign()
  }

  /** Of each shard that the batch reads: when its first record arrived, or a time before. */
  private def arrivals(start: SourceOffset, end: SourceOffset): Map[StreamShard, Long] =
    for ((id, from) <- start.readable if !end.readable.get(id).contains(from)) yield {
      val read = reading.shards.get(id).filter(_.from == from)
      val known = read.flatMap(_.frontier).flatMap(_.firstArrivalMillis).filter(_ > 0)
      // An idle query seldom logs how far it is complete.
      val complete = read.flatMap(_.completeAsOf) ++ start.shard(id).flatMap(_.completeAsOf)
      id -> known.orElse(complete.map(_.toEpochMilli).maxOption).getOrElse(0L)
    }

  /** A batch will be planned that ends there: its end must stay a mark. */
  def foundEnd(end: SourceOffset): Unit = nextEnd = end.progress

  /** Answers a heartbeat. */
  def heard(status: Heartbeat): HeartbeatReply = {
    val isNew = !executors.live(status.executor)
    if (executors.heard(status)) {
      isUneven ||= isNew
      received(status)
      val isSpare = isIdleForLong(status)
      if (isSpare) executors.lose(status.executor)
      val isStopped = isSpare || executors.isStopped
      val plan = Option.when(!isSpare && status.knownVersion != version)(
        reading.plan(status.executor, processed, ended, closed)
      )
      HeartbeatReply(version, isStopped, plan)
    } else HeartbeatReply(version, isStopped = true, None)
  }

  /**
   * Whether the executor has had neither a shard nor a page for long, and others read all shards.
   * Each executor on which a task runs has a service, so a query with few shards would have many.
   */
  private def isIdleForLong(status: Heartbeat): Boolean = {
    val isIdle = !reading.owned.contains(status.executor) && status.counters.bufferedBytes == 0 &&
      status.counters.spilledBytes == 0 && executors.live.size > reading.shards.size
    val known = idleSince.get(status.executor).filter(_ => status.knownVersion != 0)
    val since = Option.when(isIdle)(known.getOrElse(executors.ticks))
    idleSince = idleSince - status.executor ++ since.map(status.executor -> _)
    val isLong = since.exists(it => ExecutorTable.Tick * (executors.ticks - it) >= MostIdle)
    if (isLong) idleSince -= status.executor
    isLong
  }

  private def received(status: Heartbeat): Unit = {
    // A service that knows no plan is new. The pages of an earlier one on this executor are gone.
    if (status.knownVersion == 0) reading = reading.without(Set(status.executor))
    status.failure.filter(reading.isOf(status.executor, _)).foreach(executors.fails)
    reading = status.reports.foldLeft(reading) { (all, report) =>
      all.reported(status.executor, report, distance, nextEnd.get(report.shard))
    }
    status.reports.foreach(report => executors.heardOf(report.shard))
    assign()
  }

  /** These shards are listed as closed. */
  def foundClosed(shards: Set[StreamShard]): Unit = {
    if (shards.diff(closed).exists(reading.shards.contains)) version += 1
    closed = shards
  }

  /** Assigns the shards of these executors to others. */
  def reassign(gone: Set[String]): Unit = if (gone.nonEmpty) {
    reading = reading.without(gone)
    idleSince --= gone
    assign()
  }

  private def assign(): Unit = {
    val before = reading.generations
    // The pages of a running batch stay where its tasks look for them.
    if (isUneven && batchStart == batchEnd) {
      reading = reading.balanced(executors.live.size)
      isUneven = false
    }
    reading = reading.assigned(executors.live)
    if (reading.generations != before) version += 1
  }

  /** What executors have read after the end of the last planned batch. */
  def found: Found = reading.found

  /** See [[Found.frontiers]]. */
  def frontiers: Map[StreamShard, Frontier] = found.frontiers

  /** The host and the executor that have the pages of a shard. */
  def location(shard: StreamShard): Option[(String, String)] =
    for {
      state <- reading.shards.get(shard)
      id <- state.executor
      host <- executors.host(id)
    } yield (host, id)

  /** The ranges with the location and the marks of their pages. */
  def located(ranges: Vector[ShardRange]): Vector[LocatedRange[(String, String)]] =
    ranges.map { range =>
      val marks = reading.shards.get(range.shard).fold(Vector.empty[Mark])(_.marksOf(range))
      LocatedRange(range, location(range.shard), marks)
    }

  /** Number of shards that are read ahead, or wait for an executor. */
  def readable: Int = reading.shards.size

  /** See [[UnreadSince]]. */
  def unread: Map[StreamShard, Instant] =
    batchStart.fold(Map.empty[StreamShard, Instant]) { start =>
      UnreadSince.of(start, frontiers -- running.keys)
    }

  /** The time since the last page of each shard, perhaps an empty one. */
  def silences: Map[StreamShard, FiniteDuration] = executors.silences(reading.shards.keySet)

  /** See [[ProcessingLag]]. */
  def lags(
      silences: Map[StreamShard, FiniteDuration],
      pause: FiniteDuration,
      now: Map[StreamArn, Instant]
  ): Map[StreamShard, Long] =
    ProcessingLag.of(
      reading.shards.keySet ++ running.keySet,
      frontiers,
      waiting,
      reading.shards.get(_).flatMap(_.provenCompleteAsOf),
      silences,
      pause,
      now
    )

  private def waiting: Map[StreamShard, Long] = {
    val ahead =
      for (id <- found.fresh.iterator; first <- frontiers(id).firstArrivalMillis)
        yield id -> first
    ahead.toMap ++ running
  }

  def shardCounts: ShardCounts =
    batchEnd.fold(ShardCounts.Zero)(ShardCounts.of(_, frontiers, closedShards))

  /** Each executor gets an answer of a new version. */
  def changed(): Unit = version += 1

  /**
   * Whether executors have read a page of every readable shard, or a record of any.
   *
   * @param ofAll whether a record of any shard is not enough
   */
  def hasFirstLook(ofAll: Boolean): Boolean = batchEnd.exists { offset =>
    def looks = offset.readable.keysIterator.map(id => reading.shards.get(id).flatMap(_.frontier))
    looks.forall(_.nonEmpty) || !ofAll && looks.exists(_.exists(_.marks.nonEmpty))
  }
}

private object ReadAhead {

  /** The time after which a service without a shard ends. */
  private val MostIdle = 1.minute
}

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
