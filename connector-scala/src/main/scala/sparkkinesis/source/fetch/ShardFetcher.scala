package sparkkinesis.source.fetch

import java.time.Instant

import scala.concurrent.duration._

import org.slf4j.LoggerFactory

import sparkkinesis.client.{KinesisException, Page, ShardFilter, ShardIterator, ShardSnapshot}
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{ChildShard, PackedRecords, Position, ServiceLimits, StreamShard}
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.protocol.{Assignment, FetchReport, ShardRange}
import sparkkinesis.source.{DataLossException, StreamClient}

/**
 * Reads one shard ahead of the batches, a page a step. Used by one thread at a time.
 *
 * @param shards how many share the buffer
 * @param chance evenly distributed in `[0, 1)`, for the jitter of retries
 */
final class ShardFetcher(
    stream: StreamClient,
    assignment: Assignment,
    buffer: PageBuffer,
    settings: FetchSettings,
    shards: () => Int,
    chance: () => Double
) {
  import FetchStep._
  import ShardFetcher._
  import stream.{client, ref}

  private val log = LoggerFactory.getLogger(classOf[ShardFetcher])
  private val horizon = new RetentionCheck(client, ref)
  private var progress: Progress = assignment.from
  private var iterator: Option[ShardIterator] = None
  private var outage = Option.empty[FailureStreak]
  private var lastPage = Option.empty[PageEstimate]
  private var lastRecordAt: Option[Instant] = None
  private var unreadSince = assignment.completeAsOf // whatever arrived before is read
  private var isBehindHorizon = false
  private var lost = 0 // since the last report
  private var isStopped = false

  def shard: StreamShard = assignment.shard
  def generation: Long = assignment.generation

  /** At most one page further. */
  def step(now: Instant): FetchStep =
    Progress.position(progress).filterNot(_ => isStopped) match {
      case None => Ended
      case Some(position) =>
        val estimate = lastPage.fold(ServiceLimits.ReadBytesPerSecond)(_.nextEstimate)
        if (!buffer.reserve(shard, estimate, shards())) Waits(FullBufferPause)
        else
          try guarded(now)(fetch(position, now))
          finally buffer.release(estimate)
    }

  private def guarded(now: Instant)(step: => FetchStep): FetchStep =
    try step
    catch {
      case gone: KinesisException.NotFound =>
        iterator = None
        try shardIsGone(gone, now)
        catch { case failure: KinesisException => recover(failure, now) }
      case failure: KinesisException => recover(failure, now)
    }

  private def fetch(position: Position, now: Instant): FetchStep =
    if (hasFallenBehind(now) && settings.failOnDataLoss)
      Loses(tooLate(now))
    else {
      val current = iterator.getOrElse(client.shardIterator(ref, shard.shard, position))
      iterator = Some(current)
      val answer = client.getRecords(ref, current, settings.maxRecords)
      val page = answer.copy(records = PackedRecords(answer.records)) // once, for all that follows
      iterator = page.next // none at the end, confirmed or not: then another is asked for
      val children =
        if (page.next.isEmpty) ShardEnd.children(client, ref, shard.shard, page) else Seq.empty
      outage = None
      if (isPastStop(page)) accept(cut(page, current), Seq.empty, now)
      else accept(page, children, now)
    }

  /** Told once where it is passed over, until the reader has caught up. */
  private def hasFallenBehind(now: Instant): Boolean = {
    val isBehind = unreadSince.exists(horizon.hasPassed(_, now))
    if (isBehind && !isBehindHorizon && !settings.failOnDataLoss)
      passOver(tooLate(now))
    isBehindHorizon = isBehind
    isBehind
  }

  private def tooLate(now: Instant): DataLossException =
    loss("it was not read for longer than records are kept", now)

  private def passOver(loss: DataLossException): Unit = {
    lost += 1
    log.warn(s"${loss.getMessage} Going on, as it is.")
  }

  private def isPastStop(page: Page): Boolean =
    settings.stopAtMillis.exists { stop =>
      val records = PackedRecords(page.records)
      records.indices.exists(records.arrivalMillis(_) > stop)
    }

  /**
   * To what had arrived when the query should stop; nothing more is wanted. Kept, the rest would take
   * room for as long as the query runs, as no batch ever uses it up.
   */
  private def cut(page: Page, current: ShardIterator): Page = {
    isStopped = true
    val records = PackedRecords(page.records)
    val wanted = records.countWhile { index =>
      settings.stopAtMillis.forall(records.arrivalMillis(index) <= _)
    }
    Page(records.take(wanted), page.next.orElse(Some(current)), 0, Seq.empty)
  }

  /** A closed shard is no longer listed when its last record has been trimmed: read or not. */
  private def shardIsGone(gone: KinesisException.NotFound, now: Instant): FetchStep = {
    val listed = ShardSnapshot.list(client, ref, ShardFilter.FromTrimHorizon).shards
    if (listed.exists(_.id == shard.shard)) retryOrFail(gone, now)
    else {
      val gone = loss("the shard does not exist any more", now)
      if (settings.failOnDataLoss) Loses(gone)
      else {
        passOver(gone)
        accept(
          Page(IndexedSeq.empty, None, 0, Seq.empty),
          ShardEnd.childrenIn(listed, shard.shard),
          now
        )
      }
    }
  }

  private def loss(reason: String, now: Instant): DataLossException =
    new DataLossException(
      ref,
      ShardRange(shard, progress, Progress.Finished, unreadSince),
      s"$reason (${horizon.extent(unreadSince, now)})"
    )

  private def accept(page: Page, children: Seq[ChildShard], now: Instant): FetchStep = {
    val from = progress
    val isEnd = page.next.isEmpty
    iterator = page.next
    val isFirst = lastPage.isEmpty
    val held = if (page.records.nonEmpty || isEnd) keep(page, now) else 0L
    val marks = PageMarks.of(page, settings)
    lastPage = Some(PageEstimate(now, marks.map(_.bytes).sum, held))
    unreadSince =
      if (page.millisBehindLatest == 0) Some(now)
      else
        page.records.lastOption
          .map(last => Instant.ofEpochMilli(last.arrivalMillis))
          .orElse(unreadSince)
    val report = FetchReport(
      shard,
      generation,
      from,
      marks,
      children,
      page.millisBehindLatest,
      completeAsOf(page, now),
      lost
    )
    lost = 0
    val isNews = isFirst || page.records.nonEmpty || isEnd
    Fetched(report, page.records.size, pause(page, now), isNews)
  }

  /** @return the bytes it takes in the buffer */
  private def keep(page: Page, now: Instant): Long = {
    val upTo =
      if (page.next.isEmpty) Progress.Finished
      else Progress.After(page.records.last.sequenceNumber)
    val kept = BufferedPage(progress, PackedRecords(page.records), upTo)
    buffer.add(shard, kept)
    progress = upTo
    if (page.records.nonEmpty) lastRecordAt = Some(now)
    kept.bytes
  }

  /** At a shard's end only its last record counts: its children may hold older than now. */
  private def completeAsOf(page: Page, now: Instant): Long =
    if (page.millisBehindLatest == 0 && page.next.nonEmpty) now.toEpochMilli
    else page.records.lastOption.fold(0L)(_.arrivalMillis)

  /** Behind the tip the next page is wanted as soon as the service allows. */
  private def pause(page: Page, now: Instant): FiniteDuration =
    if (page.millisBehindLatest > 0) settings.minPeriod
    else {
      val since = lastRecordAt.getOrElse(now)
      lastRecordAt = Some(since)
      settings.pause((now.toEpochMilli - since.toEpochMilli).millis)
    }

  private def recover(failure: KinesisException, now: Instant): FetchStep = failure match {
    case _: KinesisException.IteratorExpired =>
      iterator = None
      Expired
    case _ if failure.isRetryable || mayBeEarly(failure) => retryOrFail(failure, now)
    case _ => Fails(failure)
  }

  /** A start at "now" by our clock may still lie ahead of the service's, which refuses it for the moment. */
  private def mayBeEarly(failure: KinesisException): Boolean = (failure, progress) match {
    case (_: KinesisException.InvalidArgument, Progress.AtTimestamp(_)) =>
      outage.forall(_.failures < EarlyFailures)
    case _ => false
  }

  /** Being throttled passes once others read less; any other trouble must not look like a quiet stream. */
  private def retryOrFail(failure: KinesisException, now: Instant): FetchStep = {
    val all = outage.fold(FailureStreak(1, now))(_.again)
    outage = Some(all)
    val isThrottled = failure.isInstanceOf[KinesisException.Throttled]
    if (!isThrottled && all.isTooLong(now)) Fails(failure)
    else {
      if (all.failures >= NoteworthyFailures)
        log.warn(
          s"Reading $shard failed ${all.failures} times in a row: ${failure.getMessage}"
        )
      val delay = FetchSettings.RetryBackoff.delay(all.failures, chance())
      Retries(
        failure,
        if (isThrottled) delay.max(lastPage.fold(Duration.Zero)(_.quotaPause(now))) else delay
      )
    }
  }
}

object ShardFetcher {
  private val FullBufferPause = 20.millis
  private val NoteworthyFailures = 5
  private val EarlyFailures = 6
}
