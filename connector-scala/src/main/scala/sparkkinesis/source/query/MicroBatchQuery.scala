package sparkkinesis.source.query

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.client.Moment
import sparkkinesis.compat._
import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.shard.ShardRange
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.source.plan._
import sparkkinesis.source.protocol._

/**
 * The driver's side of a query in micro-batches: decides where each batch ends, what its tasks
 * read, and how far executors read ahead.
 *
 * @param options with the stop time of the run, if it has one: the query ends when executors have
 *   read up to it
 * @param firstLook how long the first batch waits for a first page of its shards
 * @param lease an executor without a heartbeat for this time loses its shards
 */
private[sparkkinesis] final class MicroBatchQuery(
    options: SourceOptions,
    streams: QueryStreams,
    firstLook: FiniteDuration = 10.seconds,
    lease: FiniteDuration = SourceQuery.Lease
) extends SourceQuery(options, streams, lease) {
  import MicroBatchQuery._
  import options.fetch

  private val ahead = new ReadAhead(executors, fetch.joinedMark)
  private val starts = new ServiceStarts(options.names, executors)
  private val ceiling = new FullStoreWarning(options.names)
  private val heldBackWarning = new HeldBackWarning(options.names)
  private val cost = new BatchCost
  private var askedAt = Option.empty[FiniteDuration] // when Spark asked for the next batch
  private var lookUntil = Option.empty[Instant] // while it waits for first pages
  private var hasLooked = false // since no shard was read
  private var idle = Option.empty[Seen] // there was nothing that a batch could take
  private var heldBack = Option.empty[HeldBack]
  private var confirmAt = Option.empty[FiniteDuration] // when a confirmation may be due again
  private var hasConfirmed = false
  private var lastStart = Option.empty[SourceOffset]
  private var furthest = Option.empty[(Seen, SourceOffset)]
  private var batch = Option.empty[Batch] // that was planned last
  private var hasPages = false // whether executors keep the pages of that batch

  /**
   * Spark asks for the end of the batch that starts there.
   *
   * @return `start` itself if there is no batch to log. With a stop time, the run is over then
   */
  def asked(start: SourceOffset, limits: ReadLimits, now: Moment): Answer[SourceOffset] = {
    val answer = answering(now)(answerTo(start, limits, now))
    answer match {
      case _: Answer.Wait =>
      case _ => askedAt = None
    }
    answer
  }

  private def answerTo(
      start: SourceOffset,
      limits: ReadLimits,
      now: Moment
  ): Answer[SourceOffset] = {
    streams.check(start, now)
    val from = streams.withoutRemoved(start)
    leave(streams.advance(from, now))
    readFrom(from)
    lastStart = Some(from)
    leave(starts.due())
    failing(starts.failure, now)
      .orElse(joining(from, now))
      .orElse(awaitFirstLook(now))
      .orElse(awaitBacklog(limits, now))
      .getOrElse(endOf(start, from, limits, now))
  }

  /** Executors read ahead from there, and drop the pages before. */
  private def readFrom(offset: SourceOffset): Unit = {
    val tip = tipAt(offset)
    ahead.advance(tip, tip)
  }

  private def tipAt(offset: SourceOffset) =
    streams.withoutReportedLoss(streams.withoutRemoved(offset))

  /**
   * If no shard is read, because the query begins or has lost its executors, it waits for first
   * pages, but only once. Without the wait this trigger would find nothing, and a long interval
   * would delay the next one.
   */
  private def awaitFirstLook(now: Moment): Option[Answer[Nothing]] = {
    if (ahead.frontiers.isEmpty && !hasLooked && !starts.isBeginning) {
      hasLooked = true
      lookUntil = Some(now.steady.plusMillis(firstLook.toMillis))
    }
    // Shards that must advance together wait for each other.
    val isOver =
      lookUntil.nonEmpty && ahead.hasFirstLook(ofAll = fetch.maxShardSkew.nonEmpty)
    val isLate = lookUntil.exists(!now.steady.isBefore(_))
    if (isLate && ahead.frontiers.isEmpty)
      leave(
        Some(
          Command.Warn(
            s"No shard of ${options.names} could be read within $firstLook. The query keeps trying."
          )
        )
      )
    if (isOver || isLate) lookUntil = None
    if (ahead.frontiers.nonEmpty) hasLooked = false
    Option.when(lookUntil.nonEmpty || !hasLooked && ahead.frontiers.isEmpty)(
      later(now, NewsWait)
    )
  }

  /**
   * Behind the tip of the shards, a batch waits for more records, so that Spark's cost per batch is
   * a small part. At the tip it begins at once.
   */
  private def awaitBacklog(limits: ReadLimits, now: Moment): Option[Answer[Nothing]] = {
    val stores = executors.stores
    val begin = askedAt.getOrElse {
      leave(ceiling.asked(now.elapsed, stores.fullStores).map(Command.Warn(_)))
      now.elapsed
    }
    askedAt = Some(begin)
    val left = cost.nextAt(begin).fold(Duration.Zero)(_ - now.elapsed)
    val waited = now.elapsed - begin
    Option.when(BacklogWait.isWorth(ahead.found, limits, stores, waited, left))(
      later(now, NewsWait)
    )
  }

  /** @param from without the streams that the query no longer names */
  private def endOf(
      start: SourceOffset,
      from: SourceOffset,
      limits: ReadLimits,
      now: Moment
  ): Answer[SourceOffset] = {
    val seen = Seen(from, ahead.frontiers)
    val joined = streams.withJoined(from).getOrElse(from)
    // Spark asks an idle query a hundred times per second, and it may have thousands of shards.
    val isIdle =
      (joined eq start) && (ahead.found.fresh.isEmpty || idle.exists(_.isSame(seen)))
    if (ahead.found.fresh.isEmpty) heldBack = None
    val next = streams.repair(if (isIdle) from else planned(joined, seen.frontiers, limits))
    leave(heldBackWarning.seen(heldBack, now.elapsed).map(Command.Warn(_)))
    if (next ne start) found(next, now)
    else if (fetch.stopAtMillis.nonEmpty && !isOver(seen)) later(now, NewsWait) // it would end
    else {
      idle = Some(seen)
      val confirmed = confirmation(seen, now)
      if (confirmed eq from) Answer.Ready(from) else found(confirmed, now)
    }
  }

  /** A run with a stop time does it once, because time passes in the batch that logs it, too. */
  private def confirmation(seen: Seen, now: Moment): SourceOffset =
    if (confirmAt.exists(now.elapsed < _) || hasConfirmed && fetch.stopAtMillis.nonEmpty) seen.from
    else {
      confirmAt = Some(now.elapsed + ConfirmationWait)
      val period = streams.confirmationPeriod
      // Perhaps the next run is as late as the retention period allows.
      val step = if (fetch.stopAtMillis.isEmpty) period else period.min(LastStep)
      val confirmed = BatchPlanner.confirmed(seen.from, seen.frontiers, step)
      hasConfirmed ||= confirmed ne seen.from
      confirmed
    }

  private def planned(
      from: SourceOffset,
      frontiers: Map[StreamShard, Frontier],
      limits: ReadLimits
  ): SourceOffset = {
    val taken = fetch.maxShardSkew.fold(frontiers) { skew =>
      val (together, held) = ShardSkew.limited(from, frontiers, limits, skew)
      heldBack = held
      together
    }
    BatchPlanner.end(from, taken, limits)
  }

  /** Whether a run with a stop time has read all records, and knows all shards. */
  private def isOver(seen: Seen): Boolean =
    BatchPlanner.isDone(seen.from, seen.frontiers) && streams.isSettled(seen.from)

  private def found(end: SourceOffset, now: Moment): Answer[SourceOffset] = {
    cost.found(now.elapsed)
    ahead.foundEnd(end)
    Answer.Ready(end)
  }

  /**
   * The end of all that executors have read ahead, whatever the limits of a batch are: how far the
   * query could be. `None` before Spark has asked for a batch. Returns the same object while
   * nothing changes.
   */
  def latest: Option[SourceOffset] = lastStart.map { from =>
    val seen = Seen(from, ahead.frontiers)
    if (ahead.found.fresh.isEmpty) from
    else
      furthest
        .filter(_._1.isSame(seen))
        .fold {
          val offset = BatchPlanner.end(from, seen.frontiers, ReadLimits.None)
          furthest = Some(seen -> offset)
          offset
        }(_._2)
  }

  /**
   * The tasks of a batch: the host and the executor that has most of a task's pages, and its
   * ranges. Spark asks several times, so they are planned once; after a restart it asks before
   * anything else.
   *
   * @param slots most tasks, unless option `minPartitions` wants more
   * @param waitEnd when a source last ended a wait in Spark's thread
   * @throws SourceException if the batch cannot be read
   */
  def tasks(
      start: SourceOffset,
      end: SourceOffset,
      slots: Int,
      waitEnd: FiniteDuration,
      now: Moment
  ): Seq[(Option[(String, String)], Seq[ShardRange])] =
    batch
      .filter(it => it.start == start && it.end == end)
      .fold {
        streams.check(start, now)
        streams.check(end, now)
        ceiling.planned(now.elapsed)
        cost.planned(now.elapsed, waitEnd)
        val ranges = ahead.located(BatchPlanner.ranges(start, end).toVector)
        val tasks = RangePacking.pack(
          ranges,
          options.maxPartitions.fold(slots)(math.min(slots, _)),
          options.minPartitions.getOrElse(1)
        )
        ahead.advance(tipAt(start), tipAt(end))
        batch = Some(Batch(start, end, tasks))
        hasPages = true
        tasks
      }(_.tasks)

  /**
   * The batch is done: executors drop its pages. They would keep them until the next trigger
   * otherwise, and have no room to read on.
   *
   * @return whether it was not known
   */
  def done(now: Moment): Boolean = {
    val isNew = hasPages
    hasPages = false
    if (isNew) {
      cost.done(now.elapsed)
      batch.foreach(it => readFrom(it.end))
    }
    isNew
  }

  /** Spark has logged that the batch with this end is done. */
  def committed(end: SourceOffset, now: Moment): Unit =
    if (batch.exists(_.end == end)) done(now): Unit

  override def heard(beat: Heartbeat): HeartbeatReply = ahead.heard(beat)

  override protected def foundClosed(): Unit = ahead.foundClosed(streams.closed)

  override protected def disconnected(executor: String): Unit = ahead.reassign(Set(executor))

  override protected def silent(gone: Set[String]): Unit = ahead.reassign(gone)

  override def stop(): Unit = {
    super.stop()
    ahead.changed()
  }

  override def executorsFound(all: Map[String, String]): Unit =
    leave(starts.executorsFound(all, ahead.readable))

  override def servicesStarted(failure: Option[Throwable]): Unit = starts.ended(failure)

  /** The executor that reads the shard ahead. */
  def reader(shard: StreamShard): Option[String] = ahead.location(shard).map(_._2)

  override protected def unread: Map[StreamShard, Instant] = ahead.unread

  override protected def silences: Map[StreamShard, FiniteDuration] = ahead.silences

  override protected def lags(
      silences: Map[StreamShard, FiniteDuration],
      now: Moment
  ): Map[StreamShard, Long] = ahead.lags(silences, usualPause, streams.times(now))

  def report(now: Moment): QueryReport =
    report(ahead.frontiers, ahead.shardCounts, now).copy(
      heldBack = fetch.maxShardSkew.map(_ => heldBack)
    )
}

private object MicroBatchQuery {
  private val NewsWait = 100.millis
  private val ConfirmationWait = 1.second

  /** A run with a stop time confirms its end if that is later by this time: one batch more. */
  private val LastStep = 5.minutes

  /** What an answer depends on. */
  private final case class Seen(from: SourceOffset, frontiers: Map[StreamShard, Frontier]) {
    def isSame(other: Seen): Boolean = (from eq other.from) && (frontiers eq other.frontiers)
  }

  private final case class Batch(
      start: SourceOffset,
      end: SourceOffset,
      tasks: Seq[(Option[(String, String)], Seq[ShardRange])]
  )
}
