package sparkkinesis.source

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.model._

/**
 * Driver-side: which executor reads which shard ahead, and how far they have come. A state machine
 * without threads, time passed in; safe for use by many threads.
 *
 * A shard stays with its executor until that one is lost. What the executors report counts only for
 * speed: an offset, once planned, is read again from Kinesis wherever the pages are gone.
 *
 * @param lease an executor silent for longer loses its shards
 */
final class FetchCoordinator(lease: FiniteDuration) {
  import FetchCoordinator._

  private var planned: Option[StreamOffset] = None // the end of the last planned batch
  private var begun: Option[StreamOffset] = None // its start
  private var done: Map[ShardId, Progress] = Map.empty // what that start says of each shard
  private var executors: Map[String, Executor] = Map.empty
  private var fetched: Map[ShardId, Fetched] = Map.empty
  private var generations = 0L
  private var version = 0L
  private var stopped = false
  private var waved: Set[String] = Set.empty // executors that know it has stopped
  private var failed: Option[FetchFailure] = None

  /** The batch from `start` to `end` is planned: read ahead from `end`; pages before `start` may go. */
  def advance(start: StreamOffset, end: StreamOffset, now: Instant): Unit = synchronized {
    if (!planned.contains(end) || !begun.contains(start)) move(start, end, now)
  }

  private def move(start: StreamOffset, end: StreamOffset, now: Instant): Unit = {
    planned = Some(end)
    begun = Some(start)
    val finished = done.keySet.diff(end.shards.keySet).map(_ -> Progress.Finished)
    done = finished.toMap ++ start.shards.map { case (id, shard) => id -> shard.progress }
    val wanted = readAhead(end)
    fetched = fetched.collect {
      case (id, state) if wanted.contains(id) => id -> rebase(state, wanted(id))
    }
    version += 1
    assign(wanted, now)
    notifyAll()
  }

  /** What the executors have found behind `start`. */
  def frontiers: Map[ShardId, Frontier] = synchronized {
    fetched.collect { case (id, Fetched(_, _, _, Some(frontier))) => id -> frontier }
  }

  /** An executor reports and asks for its work. */
  def heartbeat(status: FetchStatus, now: Instant): FetchReply = synchronized {
    val isNew = !executors.contains(status.executor)
    executors = executors.updated(status.executor, Executor(status.host, now, status.counters))
    failed = failed.orElse(status.failure)
    status.reports.foreach(report(status.executor, _))
    expire(now)
    if (isNew) share(now)
    if (stopped) waved += status.executor
    notifyAll()
    FetchReply(
      version,
      stopped,
      if (status.knownVersion == version) None else Some(plan(status.executor))
    )
  }

  /** Its shards go to others at once. */
  def executorLost(executor: String, now: Instant): Unit = synchronized {
    executors -= executor
    orphan(_ == executor)
    planned.foreach(offset => assign(readAhead(offset), now))
  }

  /** Where a range's pages are, as (host, executor). */
  def location(shard: ShardId): Option[(String, String)] = synchronized {
    for {
      state <- fetched.get(shard)
      id <- state.executor
      executor <- executors.get(id)
    } yield (executor.host, id)
  }

  /** The executors that answer. */
  def live: Set[String] = synchronized(executors.keySet)

  def counters: FetchCounters = synchronized {
    executors.values.map(_.counters).foldLeft(FetchCounters.Zero)(_ + _)
  }

  def failure: Option[FetchFailure] = synchronized(failed)

  /** Each executor is told at its next heartbeat. */
  def stop(): Unit = synchronized {
    stopped = true
    version += 1
  }

  /** Waits until an executor reports, or time is up. */
  def awaitNews(timeout: FiniteDuration): Unit = synchronized(wait(timeout.toMillis))

  /**
   * Waits until every readable shard was looked at once or any has data, a failure came, or time is up.
   *
   * @return whether something changed before the time was up
   */
  def awaitFirstLook(timeout: FiniteDuration, clock: () => Instant): Boolean = synchronized {
    val end = clock().plusMillis(timeout.toMillis)
    def isReady = failed.nonEmpty || planned.exists { offset =>
      val readable = offset.readable.keySet
      readable.forall(id => fetched.get(id).exists(_.frontier.nonEmpty)) ||
      readable.exists(id => fetched.get(id).exists(_.frontier.exists(_.marks.nonEmpty)))
    }
    awaitUntil(end, clock)(isReady)
  }

  /** After `stop`: waits until every executor has heard of it, or time is up. */
  def awaitGoodbyes(timeout: FiniteDuration, clock: () => Instant): Boolean = synchronized {
    val end = clock().plusMillis(timeout.toMillis)
    awaitUntil(end, clock)(executors.keySet.subsetOf(waved))
  }

  private def awaitUntil(end: Instant, clock: () => Instant)(isReady: => Boolean): Boolean = {
    var left = end.toEpochMilli - clock().toEpochMilli
    while (!isReady && left > 0) {
      wait(left)
      left = end.toEpochMilli - clock().toEpochMilli
    }
    isReady
  }

  private def report(executor: String, report: FetchReport): Unit =
    fetched.get(report.shard).foreach { state =>
      if (state.generation == report.generation && state.executor.contains(executor)) {
        val before = state.frontier.getOrElse(Frontier(Vector.empty, Seq.empty, 0, 0))
        // A report that was sent twice does not begin where the marks end.
        val isNext = report.from == state.tip
        val frontier = before.copy(
          marks = if (isNext) before.marks ++ report.marks else before.marks,
          children = if (isNext) report.children else before.children,
          millisBehindLatest = report.millisBehindLatest,
          completeAsOfMillis = math.max(before.completeAsOfMillis, report.completeAsOfMillis)
        )
        fetched = fetched.updated(report.shard, state.copy(frontier = Some(frontier)))
      }
    }

  /** Shards to read ahead of `offset`: the readable ones of the next batch, with where from. */
  private def readAhead(offset: StreamOffset): Map[ShardId, Progress] = offset.readable.toMap

  /** A planned end is normally one of the marks: then what lies behind it stays. */
  private def rebase(state: Fetched, from: Progress): Fetched =
    if (state.from == from) state
    else
      state.frontier.filter(_.marks.exists(_.upTo == from)) match {
        case Some(frontier) => state.copy(from = from, frontier = Some(frontier.after(from)))
        case None => unassigned(from) // planned by an earlier run: assigned anew
      }

  private def assign(wanted: Map[ShardId, Progress], now: Instant): Unit = {
    expire(now)
    val missing = wanted.keySet.filterNot(id => fetched.get(id).exists(_.executor.nonEmpty))
    if (missing.nonEmpty && executors.nonEmpty) {
      val load = executors.keys.map(id => id -> fetched.values.count(_.executor.contains(id))).toMap
      missing.toSeq.sorted.foldLeft(load) { case (counts, shard) =>
        val executor = counts.minBy { case (id, count) => (count, id) }._1
        generations += 1
        fetched = fetched.updated(shard, Fetched(Some(executor), generations, wanted(shard), None))
        counts.updated(executor, counts(executor) + 1)
      }
      version += 1
    }
  }

  /** A new executor takes its share from those that have more. */
  private def share(now: Instant): Unit = {
    val fair = math.ceil(fetched.size.toDouble / executors.size).toInt
    val excess = fetched.toSeq
      .collect { case (id, Fetched(Some(executor), _, _, _)) => executor -> id }
      .groupMap(_._1)(_._2)
      .values
      .flatMap(_.sorted.drop(fair))
      .toSet
    fetched = fetched.map { case (id, state) =>
      id -> (if (excess(id)) unassigned(state.from) else state)
    }
    planned.foreach(offset => assign(readAhead(offset), now))
  }

  private def expire(now: Instant): Unit = {
    val silent = executors.collect {
      case (id, executor) if now.isAfter(executor.lastHeard.plusMillis(lease.toMillis)) => id
    }.toSet
    if (silent.nonEmpty) {
      executors --= silent
      orphan(silent)
      planned.foreach(offset => assign(readAhead(offset), now))
    }
  }

  private def orphan(isLost: String => Boolean): Unit =
    fetched = fetched.map { case (id, state) =>
      id -> (if (state.executor.exists(isLost)) unassigned(state.from) else state)
    }

  /** Of a shard that is another's by now, this executor keeps nothing. */
  private def plan(executor: String): FetchPlan =
    FetchPlan(
      fetched.collect { case (id, Fetched(Some(`executor`), generation, from, _)) =>
        Assignment(id, generation, from)
      }.toVector,
      done.filter { case (id, _) => fetched.get(id).forall(_.executor.contains(executor)) }
    )
}

object FetchCoordinator {

  private final case class Executor(host: String, lastHeard: Instant, counters: FetchCounters)

  /**
   * @param from where the frontier begins: the planned position
   * @param frontier none before the first report
   */
  private final case class Fetched(
      executor: Option[String],
      generation: Long,
      from: Progress,
      frontier: Option[Frontier]
  ) {
    def tip: Progress = frontier.flatMap(_.marks.lastOption).fold(from)(_.upTo)
  }

  private def unassigned(from: Progress): Fetched = Fetched(None, 0, from, None)
}
