package sparkkinesis.source.fetch

import java.time.Instant

import sparkkinesis.client.{KinesisException, Moment, Page}
import sparkkinesis.compat._
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{ChildShard, PackedRecords, Position, StreamShard}
import sparkkinesis.source.feed.{Feeds, PageFeed, ShardEnd, ShardListing, SubscriptionCounts}
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.protocol.{Assignment, FetchReport, Mark}
import sparkkinesis.source.store.{BufferedPage, PageStore}
import sparkkinesis.source.{DataLoss, ServiceTime, StreamClient}

/**
 * Reads one shard ahead of the batches, one page per step. Used by one thread at a time.
 *
 * @param shards number of shards that share the store
 * @param chance evenly distributed in `[0, 1)`, for the jitter of retries
 * @param isOldest whether this fetcher is behind all others by the arrival times
 * @param counts of all subscriptions of the executor
 * @param wake called on any thread when the shard has news
 */
final class ShardFetcher(
    stream: StreamClient,
    assignment: Assignment,
    store: PageStore,
    settings: FetchSettings,
    shards: () => Int,
    chance: () => Double,
    isOldest: ShardFetcher => Boolean = _ => false,
    counts: SubscriptionCounts = new SubscriptionCounts,
    wake: () => Unit = () => ()
) extends AutoCloseable {
  import FetchStep._
  import stream.ref

  private val feed =
    Feeds.of(stream, assignment.shard.shard, store, settings, counts, chance, wake)
  private val losses = new ShardLosses(stream, assignment.shard, settings.failOnDataLoss)
  private val listing = new ShardListing(stream, assignment.shard.shard)
  private val retries = new FetchRetries(assignment.shard, settings.retry, chance)
  private val mistakenEnds = new FetchRetries(assignment.shard, settings.retry, chance)
  private val time = new ServiceTime
  private val stop = new StopTime(settings.stopAtMillis)
  @volatile private var progress: Progress = assignment.from
  @volatile private var completeAsOf = assignment.completeAsOf // earlier records are read
  private var doubtedAt = Option.empty[Progress] // where a page said that the shard has ended
  private var unconfirmed = Option.empty[Page] // the shard's end
  private val nextPage = new NextPage
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
      case None =>
        close()
        Ended
      case Some(position) =>
        listing.begin(at)
        unconfirmed match {
          case Some(end) => translated(at)(confirm(end, at))
          case None =>
            feed.readiness(at) match {
              case PageFeed.Paced(pause) => Paced(pause)
              case PageFeed.Asked(limit) => Awaits(limit)
              case PageFeed.HasNews =>
                if (hasEnoughMarks) Waits
                else {
                  askAhead(at)
                  read(position, at)
                }
              case PageFeed.NeedsRoom =>
                if (hasEnoughMarks || !reserve(nextPage.bytes, at.steady)) Waits
                else read(position, at)
            }
        }
    }

  /** Ends the reading. Any thread may call this. */
  override def close(): Unit = feed.close()

  private def read(position: Position, at: Moment): FetchStep =
    try
      translated(at) {
        feed.next(position, at)(received(_, _, at)).fold(missing, identity)
      }
    finally if (!feed.keepsRoom) store.release(shard)

  private def missing(reason: PageFeed.NoPage): FetchStep = reason match {
    case PageFeed.Asked(limit) => Awaits(limit)
    case PageFeed.Paced(pause) => Paced(pause)
    // The next request waits until the store has room for this page.
    case PageFeed.TooLarge(bytes) =>
      nextPage.tooLarge(bytes)
      Waits
  }

  /**
   * Asks ahead if the store has room beside the page that has arrived, whose reservation is still
   * held.
   */
  private def askAhead(at: Moment): Unit =
    if (settings.mostMarks.isEmpty && feed.mayAskAhead(at) && reserve(nextPage.bytes, at.steady))
      feed.askAhead()

  /**
   * Whether the store has marks for many batches. With small batches, a few pages have enough of
   * them.
   */
  private def hasEnoughMarks = settings.mostMarks.exists(store.marks(shard) >= _)

  /** Shards that must advance together wait for the oldest one, so it gets room for a page. */
  private def reserve(estimate: Long, now: Instant): Boolean =
    store.reserve(shard, estimate, shards(), now) ||
      settings.maxShardSkew.nonEmpty && isOldest(this) && store.reserveFirst(shard, estimate, now)

  private def translated(at: Moment)(step: => FetchStep): FetchStep =
    try step
    catch {
      case gone: KinesisException.NotFound =>
        feed.restart()
        try shardIsGone(gone, at)
        catch { case failure: KinesisException => retries.after(failure, progress, at.steady) }
      case _: KinesisException.IteratorExpired => Expired
      case failure: KinesisException => retries.after(failure, progress, at.steady)
    }

  /** @param asked when the page, or the subscription that it comes from, was asked for */
  private def received(page: Page, asked: Moment, at: Moment): FetchStep = {
    time.observe(asked.now, page.serverTime)
    losses.behindRetention(progress, completeAsOf, time.at(at)) match {
      case Some(loss) => Loses(loss)
      case None =>
        retries.reset()
        losses.found()
        stop.cut(page) match {
          case Some(wanted) => accept(wanted, Seq.empty, asked, at, isCut = true)
          case None if page.next.isEmpty => end(page, asked, at)
          case None =>
            if (page.records.nonEmpty || page.isAtTip) mistakenEnds.reset()
            accept(page, Seq.empty, asked, at)
        }
    }
  }

  /**
   * A shard that has ended has children. An end without them may be a mistake, so it needs a second
   * answer, from another iterator, and the listing.
   */
  private def end(page: Page, asked: Moment, at: Moment): FetchStep =
    if (page.children.nonEmpty) accept(page, page.children, asked, at)
    else if (page.records.isEmpty && doubtedAt.contains(progress)) confirm(page, at)
    else {
      val doubtful = page.copy(next = Some(StopTime.NoEnd), millisBehindLatest = None)
      val step = accept(doubtful, Seq.empty, asked, at)
      doubtedAt = Some(progress)
      feed.restart()
      step
    }

  /**
   * Confirms the end of the shard. If the listing fails, the next step only repeats the listing.
   */
  private def confirm(page: Page, at: Moment): FetchStep = {
    unconfirmed = Some(page)
    val children = listing.childrenOfClosed(at)
    unconfirmed = None
    children match {
      case Some(found) => accept(page, found, at, at)
      case None =>
        feed.restart()
        mistakenEnds.retry(ShardEnd.mistaken(ref, shard.shard), at.steady)
    }
  }

  private def accept(
      page: Page,
      children: Seq[ChildShard],
      asked: Moment,
      at: Moment,
      isCut: Boolean = false
  ): FetchStep = {
    val (from, isFirst, isEnd) = (progress, nextPage.isFirst, page.next.isEmpty)
    val records = PackedRecords(page.records)
    val lastArrival = records.lastArrivalMillis
    // Not after records: the shard may have ended, and its children may have older records.
    val isTip = page.isAtTip && records.isEmpty && !isEnd
    val marks = PageMarks.of(page, settings)
    val bufferedBytes = if (marks.nonEmpty) addToStore(records, marks) else 0L
    nextPage.stored(bufferedBytes)
    if (isCut) stop.reach()
    val reached =
      if (isCut) stop.completeAsOf
      else if (isTip) Some(reachedBy(asked))
      else lastArrival.map(Instant.ofEpochMilli)
    completeAsOf = reached.orElse(completeAsOf)
    val report = FetchReport(
      shard,
      generation,
      from,
      marks,
      children,
      millisBehindLatest(page),
      reached.fold(0L)(_.toEpochMilli),
      losses.takeCount(),
      Option.when(records.nonEmpty && Progress.isStart(from))(records.sequenceNumber(0))
    )
    reportedMillis = math.max(reportedMillis, report.completeAsOfMillis)
    val pause = feed.pauseAfter(page, at.steady)
    Fetched(report, records.size, pause, isUrgent = isFirst || marks.nonEmpty)
  }

  /**
   * If it is unknown, then the page is not at the tip. With a stop time, neither is a page with
   * records: the query would end before it sees that the shard has children.
   */
  private def millisBehindLatest(page: Page): Long = {
    val mayEnd = settings.stopAtMillis.nonEmpty && !stop.isReached && page.records.nonEmpty
    page.millisBehindLatest.filterNot(_ == 0 && mayEnd).getOrElse(1)
  }

  /**
   * The time, at the tip, before which no unread record has arrived. A subscription may be minutes
   * old, so what was known before may say more.
   */
  private def reachedBy(asked: Moment): Instant =
    (completeAsOf.filter(_ => feed.isPushed) ++ Seq(time.reachedAt(asked.now))).max

  /** @return the bytes that the page takes in the store */
  private def addToStore(records: PackedRecords, marks: Vector[Mark]): Long = {
    val page = BufferedPage(progress, records, marks.last.upTo, settings.joined(marks))
    store.add(shard, page)
    progress = page.upTo
    page.bytes
  }

  /** The service no longer lists a closed shard after its last record expired, read or not. */
  private def shardIsGone(gone: KinesisException.NotFound, at: Moment): FetchStep = {
    val listed = listing.shards(at)
    if (listed.exists(_.id == shard.shard)) {
      losses.found()
      retries.retry(gone, at.steady)
    } else if (!losses.isGoneAgain()) {
      listing.doubt(at)
      Retries(gone, DataLoss.secondLook(chance()))
    } else
      losses.shardGone(progress, completeAsOf, time.at(at)) match {
        case Some(loss) => Loses(loss)
        case None => accept(ShardEnd.EmptyPage, ShardEnd.childrenIn(listed, shard.shard), at, at)
      }
  }
}
