package sparkkinesis.source.replay

import java.time.Instant

import scala.annotation.tailrec

import org.slf4j.LoggerFactory

import sparkkinesis.client.{Clock, KinesisException, Page, ShardIterator}
import sparkkinesis.compat._
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{ChildShard, PackedRecords, Position}
import sparkkinesis.source.fetch.ShardEnd
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.protocol.ShardRange
import sparkkinesis.source.{DataLoss, DataLossException, SilentTip, StreamClient}

/**
 * Reads exactly the records of a range from Kinesis. Correctness depends on this reader, and never
 * on buffered pages.
 *
 * @param settings page size, period between calls, and whether the query fails on a loss
 * @param isCancelled checked between calls
 */
final class ShardRangeReader(
    stream: StreamClient,
    settings: FetchSettings,
    clock: Clock,
    chance: () => Double,
    isCancelled: () => Boolean
) {
  import ShardRangeReader._
  import stream.{client, ref}

  private val log = LoggerFactory.getLogger(classOf[ShardRangeReader])
  private var tip = new SilentTip
  private val losses = new RangeLosses(stream, settings.failOnDataLoss, clock)
  private val paced = new PacedReader(stream, settings.maxRecords, clock, isCancelled)

  /** Number of losses that this attempt tolerated, with `failOnDataLoss` set to `false`. */
  def lostRanges: Long = losses.count

  /**
   * In order, one page at a time. The iterator throws `DataLossException` as soon as it is certain
   * that a record of the range is missing, if `failOnDataLoss` is `true`.
   *
   * @param atEnd receives the children if the range reaches the shard's end
   */
  def pages(
      range: ShardRange,
      atEnd: Seq[ChildShard] => Unit = _ => ()
  ): Iterator[PackedRecords] = {
    losses.begin()
    tip = new SilentTip
    Iterator.unfold(Option(Reading(range.start, None, range.completeAsOf))) {
      _.map(next(range, _, atEnd))
    }
  }

  private def next(
      range: ShardRange,
      reading: Reading,
      atEnd: Seq[ChildShard] => Unit
  ): (PackedRecords, Option[Reading]) =
    try readPage(range, reading, atEnd)
    catch {
      case loss: DataLossException if !settings.failOnDataLoss =>
        losses.report(loss)
        (PackedRecords.Empty, None)
    }

  private def readPage(
      range: ShardRange,
      reading: Reading,
      atEnd: Seq[ChildShard] => Unit
  ): (PackedRecords, Option[Reading]) = {
    if (reading.iterator.nonEmpty) clock.sleep(settings.minPeriod)
    val page = fetch(range, reading, 0, 0)
    val found = new RangePage(range, reading.progress, page)
    if (found.isMissing && !reading.isSecondLook) (PackedRecords.Empty, Some(lookAgain(reading)))
    else {
      if (found.isLastMissing) losses.report(losses.of(range, "its last record is gone"))
      else if (found.isFirstMissing) losses.firstMissing(range)
      if (found.isShardEnd && !found.isLastMissing) atEnd(page.children)
      (found.wanted, Option.when(!found.isLast)(reading.after(found, page.next)))
    }
  }

  /** One answer may be wrong. Reads the page again, a little later and with another iterator. */
  private def lookAgain(reading: Reading): Reading = {
    tip = new SilentTip
    clock.sleep(DataLoss.secondLook(chance()))
    reading.copy(iterator = None, isSecondLook = true)
  }

  /** Throttling ends when other consumers read less. Any other failure must end the task in time. */
  @tailrec
  private def fetch(range: ShardRange, reading: Reading, failures: Int, refusals: Int): Page = {
    if (isCancelled())
      throw new InterruptedException(s"Reading $range of stream $ref was cancelled.")
    attempt(range, reading) match {
      case Right(page) => page
      case Left((_: KinesisException.IteratorExpired, _)) if failures < MaxFailures =>
        fetch(range, reading.copy(iterator = None), failures + 1, refusals)
      case Left((_: KinesisException.NotFound, _)) =>
        if (reading.isSecondLook) throw losses.of(range, ShardIsGone)
        fetch(range, lookAgain(reading), failures, refusals)
      case Left((refusal, current)) if refusal.isThrottling =>
        pause(range, refusal, refusals + 1)
        fetch(range, current, failures, refusals + 1)
      case Left((failure, current)) if failure.isRetryable && failures < MaxFailures =>
        pause(range, failure, failures + 1)
        fetch(range, current, failures + 1, refusals)
      case Left((failure, _)) => throw failure
    }
  }

  private def pause(range: ShardRange, failure: KinesisException, count: Int): Unit = {
    log.debug(s"Retrying $range of stream $ref after a failure: ${failure.getMessage}")
    clock.sleep(FetchSettings.RetryBackoff.delay(count, chance()))
  }

  /**
   * @return on a failure also how to go on: with the same iterator. A new one would begin at the
   *   last record again, before all the empty pages since.
   */
  private def attempt(
      range: ShardRange,
      reading: Reading
  ): Either[(KinesisException, Reading), Page] = {
    var current = reading
    try {
      val position = Progress.position(reading.progress).getOrElse(Position.TrimHorizon)
      val iterator =
        reading.iterator.getOrElse(client.shardIterator(ref, range.shard.shard, position))
      current = reading.copy(iterator = Some(iterator))
      val begin = clock.now
      val page = tip.judge(paced.page(range.shard.shard, iterator), clock.elapsedMillis)
      losses.observe(begin, page)
      losses.checkRetention(range, reading.progress == range.start, reading.completeAsOf)
      if (page.next.nonEmpty) Right(page)
      else
        Right(page.copy(children = ShardEnd.children(ref, range.shard.shard, page)(paced.shards)))
    } catch { case failure: KinesisException => Left(failure -> current) }
  }
}

object ShardRangeReader {

  /** Other failures than throttling, in a row, with delays of up to ten seconds: about two minutes. */
  private val MaxFailures = 20
  private val ShardIsGone = "the shard or the stream does not exist any more"

  /**
   * @param completeAsOf all records of the range that arrived before have been read
   * @param isSecondLook whether the last answer looked like a loss
   */
  private final case class Reading(
      progress: Progress,
      iterator: Option[ShardIterator],
      completeAsOf: Option[Instant],
      isSecondLook: Boolean = false
  ) {

    /** A page with records refutes a suspected loss. An empty page does not. */
    def after(page: RangePage, next: Option[ShardIterator]): Reading = Reading(
      page.progress,
      next,
      page.lastArrival.orElse(completeAsOf),
      isSecondLook && page.wanted.isEmpty
    )
  }
}
