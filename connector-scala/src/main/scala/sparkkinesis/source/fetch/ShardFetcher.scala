package sparkkinesis.source.fetch

import java.time.Instant

import sparkkinesis.client.{KinesisException, Moment, Page, ShardIterator}
import sparkkinesis.compat._
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{ChildShard, PackedRecords, Position, StreamShard}
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.pace.ReadCall
import sparkkinesis.source.protocol.{Assignment, FetchReport, Mark}
import sparkkinesis.source.store.{BufferedPage, PageStore}
import sparkkinesis.source.{DataLoss, ServiceTime, StreamClient}

/**
 * Reads one shard ahead of the batches, one page per step. Used by one thread at a time.
 *
 * @param shards number of shards that share the store
 * @param chance evenly distributed in `[0, 1)`, for the jitter of retries
 * @param isOldest whether this fetcher is behind all others by the arrival times
 */
final class ShardFetcher(
    stream: StreamClient,
    assignment: Assignment,
    store: PageStore,
    settings: FetchSettings,
    shards: () => Int,
    chance: () => Double,
    isOldest: ShardFetcher => Boolean = _ => false
) {
  import FetchStep._
  import stream.{client, ref}

  private val losses = new ShardLosses(stream, assignment.shard, settings.failOnDataLoss)
  private val calls = new ShardCalls(stream, assignment.shard.shard, settings.pageRecords)
  private val retries = new FetchRetries(assignment.shard, chance)
  private val mistakenEnds = new FetchRetries(assignment.shard, chance)
  private val time = new ServiceTime
  private val stop = new StopTime(settings.stopAtMillis)
  @volatile private var progress: Progress = assignment.from
  @volatile private var completeAsOf = assignment.completeAsOf // earlier records are read
  private var iterator = Option.empty[ShardIterator]
  private var unconfirmed = Option.empty[Page] // the shard's end, after its records were stored
  private val nextPage = new NextPage(settings)
  private val storedMarks = new StoredMarks(settings.mostMarks)
  @volatile private var reportedMillis = 0L

  def shard: StreamShard = assignment.shard
  def generation: Long = assignment.generation

  /** Sorts fetchers by the arrival time up to which they have reported: others wait for that. */
  def age: (Instant, StreamShard) = (Instant.ofEpochMilli(reportedMillis), shard)

  /** Whether there is nothing more to read. */
  def isEnded: Boolean = stop.isReached || progress == Progress.Finished

  /** Reads at most one page. */
  def step(at: Moment): FetchStep =
    Progress.position(progress).filterNot(_ => stop.isReached) match {
      case None => Ended
      case Some(position) =>
        unconfirmed match {
          case Some(end) => translated(at)(confirm(end, at))
          case None => calls.pause(at).fold(stepWithRoom(position, at))(Paced)
        }
    }

  private def stepWithRoom(position: Position, at: Moment): FetchStep =
    if (storedMarks.areEnough(store.pageCount(shard)) || !reserve(nextPage.bytes, at.steady)) Waits
    else
      try translated(at)(paced(position, at))
      finally store.release(shard)

  /** Gets the iterator first: a failure to get one uses nothing of the quota. */
  private def paced(position: Position, at: Moment): FetchStep = {
    val current = iterator.getOrElse(client.shardIterator(ref, shard.shard, position))
    iterator = Some(current)
    calls.next(at) match {
      case Left(wait) => Paced(wait)
      case Right(call) =>
        store.receiving(fetch(current, call, at)).fold(tooLarge(call, _, at), identity)
    }
  }

  /** Shards that must advance together wait for the oldest one, so it gets room for a page. */
  private def reserve(estimate: Long, now: Instant): Boolean =
    store.reserve(shard, estimate, shards(), now) ||
      settings.maxShardSkew.nonEmpty && isOldest(this) && store.reserveFirst(shard, estimate, now)

  /** The next request waits until the store has room for this page. */
  private def tooLarge(call: ReadCall, bytes: Long, at: Moment): FetchStep = {
    calls.unread(call, bytes, at)
    nextPage.tooLarge(bytes)
    Waits
  }

  private def translated(at: Moment)(step: => FetchStep): FetchStep =
    try step
    catch {
      case gone: KinesisException.NotFound =>
        iterator = None
        try shardIsGone(gone, at)
        catch { case failure: KinesisException => retries.after(failure, progress, at.steady) }
      case _: KinesisException.IteratorExpired =>
        iterator = None
        Expired
      case failure: KinesisException => retries.after(failure, progress, at.steady)
    }

  private def fetch(current: ShardIterator, call: ReadCall, at: Moment): FetchStep = {
    val page = calls.page(call, current, at)
    time.observe(at.now, page.serverTime)
    losses.behindRetention(progress, completeAsOf, time.at(at)) match {
      case Some(loss) => Loses(loss)
      case None =>
        retries.reset()
        losses.found()
        stop.cut(page, current) match {
          case Some(wanted) => accept(wanted, Seq.empty, at)
          case None if page.next.isEmpty => end(page, current, at)
          case None =>
            if (page.records.nonEmpty || page.isAtTip) mistakenEnds.reset()
            accept(page, Seq.empty, at)
        }
    }
  }

  /**
   * A shard's end must be confirmed. If that fails, the records are stored already now, and the next step
   * only confirms: reading again might walk through many empty pages.
   */
  private def end(page: Page, current: ShardIterator, at: Moment): FetchStep =
    try confirm(page, at)
    catch {
      case failure: KinesisException =>
        unconfirmed = Some(page.copy(records = PackedRecords.Empty))
        if (page.records.isEmpty) throw failure
        accept(page.copy(next = Some(current), millisBehindLatest = None), Seq.empty, at)
    }

  private def confirm(page: Page, at: Moment): FetchStep = calls.children(page, at) match {
    case Some(children) => accept(page, children, at)
    case None => // the next step gets another iterator
      unconfirmed = None
      iterator = None
      mistakenEnds.retry(ShardEnd.mistaken(ref, shard.shard), at.steady)
  }

  private def accept(page: Page, children: Seq[ChildShard], at: Moment): FetchStep = {
    val (from, isFirst, isEnd) = (progress, nextPage.isFirst, page.next.isEmpty)
    val (isAtTip, reached) = (page.isAtTip, time.reachedAt(at.now))
    val records = PackedRecords(page.records)
    val lastArrival = records.lastArrivalMillis
    val marks = PageMarks.of(page, settings)
    val bufferedBytes = if (marks.nonEmpty) addToStore(records, marks) else 0L
    iterator = page.next
    nextPage.stored(bufferedBytes)
    completeAsOf =
      if (isAtTip) Some(reached) else lastArrival.map(Instant.ofEpochMilli).orElse(completeAsOf)
    val report = FetchReport(
      shard,
      generation,
      from,
      marks,
      children,
      page.millisBehindLatest.getOrElse(1), // if unknown, then it is not the tip
      // At a shard's end its last record counts: its children may have records older than now.
      if (isAtTip && !isEnd) reached.toEpochMilli else lastArrival.getOrElse(0L),
      losses.takeCount(),
      Option.when(records.nonEmpty && Progress.isStart(from))(records.sequenceNumber(0))
    )
    reportedMillis = math.max(reportedMillis, report.completeAsOfMillis)
    val pause = nextPage.pauseAfter(page, at.steady)
    Fetched(report, records.size, pause, isUrgent = isFirst || marks.nonEmpty)
  }

  /** @return the bytes that the page takes in the store */
  private def addToStore(records: PackedRecords, marks: Vector[Mark]): Long = {
    val page = BufferedPage(progress, records, marks.last.upTo)
    store.add(shard, page)
    storedMarks.add(marks.size)
    progress = page.upTo
    page.bytes
  }

  /** The service no longer lists a closed shard after its last record expired, read or not. */
  private def shardIsGone(gone: KinesisException.NotFound, at: Moment): FetchStep = {
    val listed = calls.shards(at)
    if (listed.exists(_.id == shard.shard)) {
      losses.found()
      retries.retry(gone, at.steady)
    } else if (!losses.isGoneAgain()) {
      calls.doubtListing(at)
      Retries(gone, DataLoss.secondLook(chance()))
    } else
      losses.shardGone(progress, completeAsOf, time.at(at)) match {
        case Some(loss) => Loses(loss)
        case None => accept(ShardEnd.EmptyPage, ShardEnd.childrenIn(listed, shard.shard), at)
      }
  }
}
