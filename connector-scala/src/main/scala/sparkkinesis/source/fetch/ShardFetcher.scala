package sparkkinesis.source.fetch

import java.time.Instant

import sparkkinesis.client.Moment
import sparkkinesis.compat._
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{ServiceLimits, StreamShard}
import sparkkinesis.shard.feed._
import sparkkinesis.shard.{FetchMemory, ShardRange, StreamClient}
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.protocol.{Assignment, FetchReport}
import sparkkinesis.source.store.{PageStore, StoredPage}

/**
 * Reads one shard ahead of the batches, one page per step, and keeps the pages in the store. Used
 * by one thread at a time.
 *
 * @param chance evenly distributed in `[0, 1)`, for the jitter of retries
 * @param counts of all feeds of the executor
 * @param wake called on any thread when the shard has news
 */
private[sparkkinesis] final class ShardFetcher(
    stream: StreamClient,
    assignment: Assignment,
    store: PageStore,
    settings: FetchSettings,
    chance: () => Double,
    counts: FeedCounts = FeedCounts.Unread,
    wake: () => Unit = () => ()
) extends AutoCloseable {
  import ReadStep._

  private val arrival = store.arrival()
  private val reader = new ShardReader(
    stream,
    ReadGoal.Ahead(
      ShardRange(shard, assignment.from, Progress.Finished, assignment.completeAsOf),
      settings.stopAtMillis
    ),
    feedOf(stream),
    settings.ahead,
    chance
  )
  private val nextPage = new NextPage
  @volatile private var reportedMillis = 0L
  @volatile private var isClosed = false
  private var isShardClosed = assignment.isClosed

  private def feedOf(stream: StreamClient): PageFeed =
    Feeds.of(stream, shard.shard, arrival, settings.ahead, counts, chance, wake)

  def shard: StreamShard = assignment.shard
  def generation: Long = assignment.generation

  /** Sorts fetchers by the arrival time up to which they have reported: others wait for that. */
  def age: (Instant, StreamShard) = (Instant.ofEpochMilli(reportedMillis), shard)

  /** Whether there is nothing more to read. */
  def isEnded: Boolean = reader.isOver

  /**
   * The shard is listed as closed. Call it and `prepare` on one thread at a time.
   *
   * @return whether that is news
   */
  def shardClosed(): Boolean = {
    val isNew = !isShardClosed
    isShardClosed = true
    isNew
  }

  /**
   * Prepares a run: takes room in the store if it is needed.
   *
   * @param shards number of shards that share the store
   * @param isOldest whether this fetcher is behind all others by the arrival times
   * @return why it cannot run yet; `None` if `run` must follow
   */
  def prepare(at: Moment, shards: Int, isOldest: => Boolean): Option[ReadStep[FetchedPage]] = {
    // Shards that must advance together wait for the oldest one.
    def isAwaited = settings.maxShardSkew.nonEmpty && isOldest
    def reserve() = {
      arrival.mostRecords = nextPage.limit(store.pageBytes(shards))
      store.reserve(shard, nextPage.bytes, shards, at.steady, isAwaited, nextPage.wasTooLarge)
    }
    if (reader.isOver || reader.isEnding) None
    else {
      // Some servers never end the subscription of a closed shard, whose children a run that ends
      // must read, too.
      if ((isShardClosed || settings.stopAtMillis.nonEmpty) && reader.feed.isQuiet(at)) poll()
      val feed = reader.feed
      feed.readiness(at) match {
        case paced: Paced => Some(paced)
        case awaits: Awaits => Some(awaits)
        case _ if hasEnoughMarks => Some(NoRoom)
        case HasNews =>
          // Asks ahead if the store has room beside the page that has arrived, whose reservation is
          // still held.
          if (settings.mostMarks.isEmpty && feed.mayAskAhead(at) && reserve()) feed.askAhead()
          None
        case NeedsRoom => if (reserve()) None else Some(NoRoom)
      }
    }
  }

  /** A polled page says whether the shard has ended. */
  private def poll(): Unit = {
    store.release(shard)
    reader.continueWith(feedOf(stream.copy(consumer = None)))
  }

  /** Ends the reading. Any thread may call this. */
  override def close(): Unit = {
    isClosed = true
    reader.close()
  }

  /** Reads at most one page. Makes no call if the fetcher was closed. */
  def run(at: Moment): ReadStep[FetchedPage] = if (isClosed) Ended else read(at)

  private def read(at: Moment): ReadStep[FetchedPage] =
    try
      reader.step(at) match {
        case Read(page, pause) =>
          val (isFirst, report) = (nextPage.isFirst, kept(page))
          val isUrgent = isFirst || report.marks.nonEmpty
          Read(FetchedPage(report, page.records.size, isUrgent), pause)
        // The next request waits until the store has room for this page.
        case TooLarge(bytes) =>
          nextPage.tooLarge(bytes)
          NoRoom
        case nothing: NoPage => nothing
      }
    finally {
      reader.release()
      // Perhaps a successor has room now.
      if (!reader.feed.keepsRoom && !isClosed) store.release(shard)
    }

  /**
   * Whether the store has marks for many batches. With small batches, a few pages have enough of
   * them.
   */
  private def hasEnoughMarks = settings.mostMarks.exists(store.marks(shard) >= _)

  private def kept(page: ReadPage): FetchReport = {
    val marks = PageMarks.of(page.records, page.isEnd, settings)
    val bytes = marks.lastOption.fold(0L) { last =>
      val stored = StoredPage(page.from, page.records, last.upTo, settings.joined(marks))
      store.add(shard, stored)
      stored.bytes
    }
    nextPage.stored(bytes, page.records.size)
    val completeAsOf = page.completeAsOf.fold(0L)(_.toEpochMilli)
    reportedMillis = math.max(reportedMillis, completeAsOf)
    val isStart = page.records.nonEmpty && Progress.isStart(page.from)
    FetchReport(
      shard,
      generation,
      page.from,
      marks,
      page.children,
      millisBehindLatest(page),
      completeAsOf,
      reader.takeLosses(),
      Option.when(isStart)(page.records.sequenceNumber(0)),
      reader.takeEarly()
    )
  }

  /**
   * If it is unknown, then the page is not at the tip. With a stop time, neither is an event, or a
   * page with records: the query would end before it sees that the shard has children.
   */
  private def millisBehindLatest(page: ReadPage): Long = {
    val mayEnd = settings.stopAtMillis.nonEmpty && !reader.isReached &&
      (page.records.nonEmpty || reader.feed.isPushed)
    page.millisBehind.filterNot(_ == 0 && mayEnd).getOrElse(1)
  }
}

/**
 * A page was read and is kept for a batch.
 *
 * @param records number of records in the page
 * @param isUrgent whether the driver should receive the report at once
 */
private[sparkkinesis] final case class FetchedPage(
    report: FetchReport,
    records: Int,
    isUrgent: Boolean
)

/** What a shard's pages say about the next one. Used by one thread at a time. */
private final class NextPage {

  /** Bytes of recent pages in the store: for small records far more than their data. */
  private var recent = Option.empty[Long]
  private var ofRecord = NextPage.FirstRecordBytes // mean of the last page with records
  private var isRefused = false

  /** Whether no page was read yet. */
  def isFirst: Boolean = recent.isEmpty

  /** The bytes that it is expected to take in the store: a little more than recent pages. */
  def bytes: Long = recent.fold(ServiceLimits.ReadBytesPerSecond) { recent =>
    math.min(FetchMemory.LargestPage, math.max(NextPage.LeastBytes, recent * 9 / 8))
  }

  /** Whether there was no memory for the last page. */
  def wasTooLarge: Boolean = isRefused

  /**
   * Number of records that the next page should have at most.
   *
   * @param bytes that it should take in the store at most
   */
  def limit(bytes: Long): Int =
    math.max(1, math.min(ServiceLimits.GetRecordsCount.toLong, bytes / ofRecord)).toInt

  /** A page took so many bytes in the store. The estimate rises at once and falls slowly. */
  def stored(bytes: Long, records: Int): Unit = {
    if (records > 0) ofRecord = math.max(1, bytes / records)
    recent = Some(math.max(bytes, recent.fold(bytes)(_ * 7 / 8)))
    isRefused = false
  }

  /** Remembers that the page has so many bytes, and that there was no memory for it. */
  def tooLarge(bytes: Long): Unit = {
    recent = Some(bytes)
    isRefused = true
  }
}

private object NextPage {
  private val LeastBytes = 64L * 1024
  private val FirstRecordBytes = 1024L
}
