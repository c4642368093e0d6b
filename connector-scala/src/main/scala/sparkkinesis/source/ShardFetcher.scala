package sparkkinesis.source

import java.time.Instant

import scala.concurrent.duration._

import org.slf4j.LoggerFactory

import sparkkinesis.client._
import sparkkinesis.model._

/**
 * Reads one shard ahead of the batches, a page a step. Used by one thread at a time.
 *
 * @param shards how many share the buffer
 * @param chance evenly distributed in `[0, 1)`, for the jitter of retries
 */
final class ShardFetcher(
    stream: StreamRef,
    assignment: Assignment,
    client: KinesisClient,
    buffer: PageBuffer,
    settings: FetchSettings,
    shards: () => Int,
    chance: () => Double
) {
  import ShardFetcher._

  private val log = LoggerFactory.getLogger(classOf[ShardFetcher])
  private var progress: Progress = assignment.from
  private var iterator: Option[ShardIterator] = None
  private var failures = 0
  private var lastRecordAt: Option[Instant] = None
  private var isFresh = true

  def shard: ShardId = assignment.shard
  def generation: Long = assignment.generation

  /** At most one page further. */
  def step(now: Instant): Step =
    Progress.position(progress) match {
      case None => Ended
      case Some(_) if !buffer.hasRoom(shard, shards()) => Waits(FullBufferPause)
      case Some(position) =>
        try fetch(position, now)
        catch {
          case _: KinesisException.NotFound => atTrouble(shardIsGone(now))
          case failure: KinesisException => recover(failure)
        }
    }

  private def atTrouble(step: => Step): Step =
    try step
    catch { case failure: KinesisException => recover(failure) }

  /** A closed shard is no longer listed when its last record has been trimmed: read or not. */
  private def shardIsGone(now: Instant): Step = {
    val listed = ShardDiscovery.listAll(client, stream, ShardFilter.FromTrimHorizon).shards
    val range = ShardRange(shard, progress, Progress.Finished)
    val loss = new DataLossException(stream, range, "the shard does not exist any more")
    if (listed.exists(_.id == shard)) Waits(retryDelay())
    else if (settings.failOnDataLoss) Loses(loss)
    else {
      log.warn(s"${loss.getMessage} Going on, as it is.")
      accept(Page(IndexedSeq.empty, None, 0, Seq.empty), childrenIn(listed), now)
    }
  }

  private def childrenIn(listed: Seq[Shard]): Seq[ChildShard] =
    listed.filter(_.parents.contains(shard)).map { child =>
      ChildShard(child.id, child.parents, child.hashKeys)
    }

  private def fetch(position: Position, now: Instant): Step = {
    val current = iterator.getOrElse(client.shardIterator(stream, shard, position))
    iterator = Some(current)
    val page = client.getRecords(stream, current, settings.maxRecords)
    failures = 0
    if (page.next.nonEmpty) accept(page, Seq.empty, now)
    else
      endOfShard(page) match {
        case Some(children) => accept(page, children, now)
        case None => // an end nobody confirms: ask again with a new iterator
          iterator = None
          Waits(retryDelay())
      }
  }

  /** Only an end that names its children, or a shard listed as closed, is believed. */
  private def endOfShard(page: Page): Option[Seq[ChildShard]] =
    if (page.children.nonEmpty) Some(page.children)
    else {
      val listed = ShardDiscovery.listAll(client, stream, ShardFilter.FromTrimHorizon).shards
      val isClosed = listed.find(_.id == shard).forall(!_.isOpen)
      if (isClosed) Some(childrenIn(listed)) else None
    }

  private def accept(page: Page, children: Seq[ChildShard], now: Instant): Step = {
    val isEnd = page.next.isEmpty
    val from = progress
    iterator = page.next
    if (page.records.nonEmpty) lastRecordAt = Some(now)
    if (page.records.nonEmpty || isEnd) {
      val upTo = if (isEnd) Progress.Finished else Progress.After(page.records.last.sequenceNumber)
      buffer.add(shard, BufferedPage(from, PackedRecords(page.records), upTo))
      progress = upTo
    }
    val isFirst = isFresh
    isFresh = false
    val report = FetchReport(
      shard,
      generation,
      from,
      marks(page, isEnd),
      children,
      page.millisBehindLatest,
      completeAsOf(page, now)
    )
    Fetched(
      report,
      page.records.size,
      pause(page, now),
      isNews = isFirst || page.records.nonEmpty || isEnd
    )
  }

  private def marks(page: Page, isEnd: Boolean): Vector[Mark] =
    if (page.records.isEmpty)
      if (isEnd) Vector(Mark(Progress.Finished, 0, 0, 0)) else Vector.empty
    else {
      val ends = settings.marks(page.records)
      ends.zip(-1 +: ends).map { case (last, before) =>
        val records = page.records.slice(before + 1, last + 1)
        val upTo =
          if (isEnd && last == page.records.size - 1) Progress.Finished
          else Progress.After(records.last.sequenceNumber)
        val bytes = records.foldLeft(0L)((sum, record) => sum + record.data.length)
        Mark(upTo, records.size.toLong, bytes, records.last.arrivalMillis)
      }
    }

  /** At a shard's end only its last record counts: its children may hold older than now. */
  private def completeAsOf(page: Page, now: Instant): Long =
    if (page.millisBehindLatest == 0 && page.next.nonEmpty) now.toEpochMilli
    else page.records.lastOption.fold(0L)(_.arrivalMillis)

  /** Behind the tip the next page is wanted as soon as the service allows. */
  private def pause(page: Page, now: Instant): FiniteDuration =
    if (page.millisBehindLatest > 0) settings.minPeriod
    else {
      val quiet =
        lastRecordAt.fold(Duration.Zero)(at => (now.toEpochMilli - at.toEpochMilli).millis)
      if (lastRecordAt.isEmpty) lastRecordAt = Some(now)
      settings.pause(quiet)
    }

  private def recover(failure: KinesisException): Step = failure match {
    case _: KinesisException.IteratorExpired =>
      iterator = None
      Expired
    case _ if failure.isRetryable || mayBeEarly(failure) =>
      val delay = retryDelay()
      if (failures >= NoteworthyFailures)
        log.warn(
          s"Reading $shard of $stream failed $failures times in a row: ${failure.getMessage}"
        )
      Retries(failure, delay)
    case _ => Fails(failure)
  }

  /**
   * A start at "now" by our clock may still lie ahead of the service's, which refuses it for the
   * moment.
   */
  private def mayBeEarly(failure: KinesisException): Boolean = (failure, progress) match {
    case (_: KinesisException.InvalidArgument, Progress.AtTimestamp(_)) => failures < EarlyFailures
    case _ => false
  }

  private def retryDelay(): FiniteDuration = {
    failures += 1
    FetchSettings.RetryBackoff.delay(failures, chance())
  }
}

object ShardFetcher {
  private val FullBufferPause = 20.millis
  private val NoteworthyFailures = 5
  private val EarlyFailures = 6

  /** What a step came to. */
  sealed trait Step

  /**
   * @param isNews worth telling the driver at once
   * @param pause until the next step, before jitter
   */
  final case class Fetched(
      report: FetchReport,
      records: Int,
      pause: FiniteDuration,
      isNews: Boolean
  ) extends Step

  /** There is no room, or nothing certain. */
  final case class Waits(pause: FiniteDuration) extends Step

  /** The iterator was too old; the next step takes another. */
  case object Expired extends Step
  final case class Retries(failure: KinesisException, delay: FiniteDuration) extends Step

  /** Trying again would not help. */
  final case class Fails(failure: KinesisException) extends Step

  final case class Loses(loss: DataLossException) extends Step

  /** Read to the shard's end: no further step. */
  case object Ended extends Step
}
