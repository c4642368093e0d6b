package sparkkinesis.source.fetch

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.client.{KinesisException, Moment, Page, ShardIterator}
import sparkkinesis.compat._
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{ChildShard, PackedRecords, Position, ServiceLimits, StreamShard}
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
  import ShardFetcher._
  import stream.{client, ref}

  private val losses = new ShardLosses(stream, assignment.shard, settings.failOnDataLoss)
  private val calls = new ShardCalls(stream, assignment.shard.shard, settings.pageRecords)
  private val retries = new FetchRetries(assignment.shard, chance)
  private val time = new ServiceTime
  private val stop = new StopTime(settings.stopAtMillis)
  @volatile private var progress: Progress = assignment.from
  @volatile private var completeAsOf = assignment.completeAsOf // earlier records are read
  private var iterator = Option.empty[ShardIterator]
  private var lastPage = Option.empty[PageEstimate]
  private var lastDataAt = Option.empty[Instant]
  private val storedMarks = new StoredMarks(settings.mostMarks)
  @volatile private var reportedMillis = 0L
  @volatile private var isStopped = false

  def shard: StreamShard = assignment.shard
  def generation: Long = assignment.generation

  /** Sorts fetchers by the arrival time up to which they have reported: others wait for that. */
  def age: (Instant, StreamShard) = (Instant.ofEpochMilli(reportedMillis), shard)

  /** Whether there is nothing more to read. */
  def isEnded: Boolean = isStopped || progress == Progress.Finished

  /** Reads at most one page. */
  def step(at: Moment): FetchStep =
    Progress.position(progress).filterNot(_ => isStopped) match {
      case None => Ended
      case Some(position) => calls.pause(at).fold(stepWithRoom(position, at))(Paced)
    }

  private def stepWithRoom(position: Position, at: Moment): FetchStep = {
    val estimate = lastPage.fold(ServiceLimits.ReadBytesPerSecond)(_.nextBytes)
    if (storedMarks.areEnough(store.pageCount(shard)) || !reserve(estimate, at.steady))
      Waits(FullStorePause)
    else
      try
        calls.next(at) match {
          case Left(wait) => Paced(wait)
          case Right(call) =>
            translated(at)(store.receiving(fetch(position, call, at)).fold(tooLarge, identity))
        }
      finally store.release(shard)
  }

  /** Shards that must advance together wait for the oldest one, so it gets room for a page. */
  private def reserve(estimate: Long, now: Instant): Boolean =
    store.reserve(shard, estimate, shards(), now) ||
      settings.maxShardSkew.nonEmpty && isOldest(this) && store.reserveFirst(shard, estimate, now)

  /** The next request waits until the store has room for this page. */
  private def tooLarge(bytes: Long): FetchStep = {
    lastPage = Some(PageEstimate(bytes))
    Waits(FullStorePause)
  }

  private def translated(at: Moment)(step: => FetchStep): FetchStep =
    try step
    catch {
      case gone: KinesisException.NotFound =>
        iterator = None
        try shardIsGone(gone, at)
        catch { case failure: KinesisException => failed(failure, at.steady) }
      case failure: KinesisException => failed(failure, at.steady)
    }

  private def fetch(position: Position, call: ReadCall, at: Moment): FetchStep = {
    val current = iterator.getOrElse(client.shardIterator(ref, shard.shard, position))
    iterator = Some(current)
    val page = calls.page(call, current, at)
    time.observe(at.now, page.serverTime)
    losses.behindRetention(progress, completeAsOf, serviceTime(at)) match {
      case Some(loss) => Loses(loss)
      case None =>
        // If the end is not confirmed, the next step gets an iterator. `accept` sets the others, so that
        // a page that cannot be stored is read again.
        if (page.next.isEmpty) iterator = None
        val children = calls.children(page, at)
        retries.reset()
        losses.found()
        stop.cut(page, current).fold(accept(page, children, at)) { wanted =>
          isStopped = true
          accept(wanted, Seq.empty, at)
        }
    }
  }

  private def accept(page: Page, children: Seq[ChildShard], at: Moment): FetchStep = {
    val (from, isFirst, isEnd) = (progress, lastPage.isEmpty, page.next.isEmpty)
    val (isAtTip, reached) = (page.isAtTip, time.reachedAt(at.now))
    val records = PackedRecords(page.records)
    val lastArrival = records.lastArrivalMillis
    val marks = PageMarks.of(page, settings)
    val bufferedBytes = if (marks.nonEmpty) addToStore(records, marks) else 0L
    iterator = page.next
    lastPage = Some(lastPage.fold(PageEstimate(bufferedBytes))(_.after(bufferedBytes)))
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
    val isUrgent = isFirst || marks.nonEmpty
    Fetched(report, records.size, pause(page, at.steady), isUrgent)
  }

  /** @return the bytes that the page takes in the store */
  private def addToStore(records: PackedRecords, marks: Vector[Mark]): Long = {
    val page = BufferedPage(progress, records, marks.last.upTo)
    store.add(shard, page)
    storedMarks.add(marks.size)
    progress = page.upTo
    page.bytes
  }

  /** Behind the tip, the next page is read as soon as the service allows. */
  private def pause(page: Page, now: Instant): FiniteDuration = {
    if (page.records.nonEmpty) lastDataAt = Some(now)
    if (!page.isAtTip) settings.minPeriod
    else {
      val since = lastDataAt.getOrElse(now)
      lastDataAt = Some(since)
      settings.pause((now.toEpochMilli - since.toEpochMilli).millis)
    }
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
      losses.shardGone(progress, completeAsOf, serviceTime(at)) match {
        case Some(loss) => Loses(loss)
        case None => accept(EmptyEnd, ShardEnd.childrenIn(listed, shard.shard), at)
      }
  }

  private def serviceTime(at: Moment): Moment = at.copy(now = time.at(at.now))

  private def failed(failure: KinesisException, now: Instant): FetchStep = failure match {
    case _: KinesisException.IteratorExpired =>
      iterator = None
      Expired
    case _ => retries.after(failure, progress, now)
  }
}

object ShardFetcher {
  private val FullStorePause = 20.millis
  private val EmptyEnd = Page(IndexedSeq.empty, None, 0, Seq.empty)
}
