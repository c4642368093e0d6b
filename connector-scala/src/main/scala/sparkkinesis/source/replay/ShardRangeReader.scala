package sparkkinesis.source.replay

import scala.concurrent.duration._

import org.slf4j.LoggerFactory

import sparkkinesis.client.{Clock, KinesisException, Page}
import sparkkinesis.compat._
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{ChildShard, PackedRecords, Position, ShardId}
import sparkkinesis.source.feed.ShardEnd
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
  private var shard = Option.empty[ShardId] // of the range that is read
  private val losses = new RangeLosses(stream, settings.failOnDataLoss, clock)
  private val paced = new PacedReader(stream, settings.maxRecords, clock, isCancelled)

  /** Number of losses that this attempt tolerated, with `failOnDataLoss` set to `false`. */
  def lostRanges: Long = losses.count

  /** The time until the next page can be requested; zero if it can be requested now. */
  def pause: FiniteDuration = shard.fold[FiniteDuration](Duration.Zero)(paced.pause)

  /**
   * Reads the range in order, one page at a time. After a failure that is retried, the iterator
   * returns an empty page. It throws `DataLossException` as soon as it is certain that a record of
   * the range is missing, if `failOnDataLoss` is `true`.
   *
   * @param atEnd receives the children if the range reaches the shard's end
   */
  def pages(
      range: ShardRange,
      atEnd: Seq[ChildShard] => Unit = _ => ()
  ): Iterator[PackedRecords] = {
    losses.begin()
    tip = new SilentTip
    shard = Some(range.shard.shard)
    Iterator.unfold(Option(RangeReading(range.start, None, range.completeAsOf))) {
      _.map(next(range, _, atEnd))
    }
  }

  private def next(
      range: ShardRange,
      reading: RangeReading,
      atEnd: Seq[ChildShard] => Unit
  ): (PackedRecords, Option[RangeReading]) =
    try readPage(range, reading, atEnd)
    catch {
      case loss: DataLossException if !settings.failOnDataLoss =>
        losses.report(loss)
        (PackedRecords.Empty, None)
    }

  private def readPage(
      range: ShardRange,
      reading: RangeReading,
      atEnd: Seq[ChildShard] => Unit
  ): (PackedRecords, Option[RangeReading]) = {
    paced.await(range.shard.shard)
    attempt(range, reading) match {
      case Right(page) => accept(range, reading, page, atEnd)
      case Left((failure, current)) => (PackedRecords.Empty, Some(retry(range, current, failure)))
    }
  }

  private def accept(
      range: ShardRange,
      reading: RangeReading,
      page: Page,
      atEnd: Seq[ChildShard] => Unit
  ): (PackedRecords, Option[RangeReading]) = {
    val isDoubtful = reading.isDoubtful(page)
    val found =
      new RangePage(range, reading.progress, page, isEnd = page.next.isEmpty && !isDoubtful)
    if (found.isMissing && !reading.isSecondLook) (PackedRecords.Empty, Some(lookAgain(reading)))
    else {
      if (found.isLastMissing) losses.report(losses.of(range, "its last record is gone"))
      else if (found.isFirstMissing) losses.firstMissing(range)
      if (found.isShardEnd && !found.isLastMissing) atEnd(page.children)
      paced.delay(settings.minPeriod)
      (found.wanted, Option.when(!found.isLast)(reading.after(found, page.next, isDoubtful)))
    }
  }

  /**
   * Reads the page again, a little later and with another iterator, because one answer may be
   * wrong.
   */
  private def lookAgain(reading: RangeReading): RangeReading = {
    tip = new SilentTip
    paced.delay(DataLoss.secondLook(chance()))
    reading.copy(iterator = None, isSecondLook = true)
  }

  /**
   * Throttling ends when other consumers read less. Any other failure must end the task in time.
   */
  private def retry(
      range: ShardRange,
      reading: RangeReading,
      failure: KinesisException
  ): RangeReading =
    failure match {
      case _: KinesisException.IteratorExpired if reading.failures < MostExpirations =>
        reading.copy(iterator = None, streak = Some(reading.nextStreak(clock.steady)))
      case _: KinesisException.NotFound =>
        if (reading.isSecondLook) throw losses.of(range, ShardIsGone)
        lookAgain(reading)
      case _ if failure.isThrottling =>
        backOff(range, failure, reading.refusals + 1)
        reading.copy(refusals = reading.refusals + 1)
      case _ if failure.isRetryable =>
        val streak = reading.nextStreak(clock.steady)
        if (settings.retry.isOver(streak, clock.steady)) throw failure
        backOff(range, failure, streak.failures)
        reading.copy(streak = Some(streak))
      case _ => throw failure
    }

  private def backOff(range: ShardRange, failure: KinesisException, count: Int): Unit = {
    log.debug(s"Retrying $range of stream $ref after a failure: ${failure.getMessage}")
    paced.delay(settings.retry.backoff.delay(count, chance()))
  }

  /**
   * @return on a failure also how to go on: with the same iterator. A new one would begin at the
   *   last record again, before all the empty pages since.
   */
  private def attempt(
      range: ShardRange,
      reading: RangeReading
  ): Either[(KinesisException, RangeReading), Page] = {
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
      if (page.next.nonEmpty || page.children.nonEmpty || reading.isDoubtful(page)) Right(page)
      else Right(page.copy(children = childrenOfClosed(range)))
    } catch { case failure: KinesisException => Left(failure -> current) }
  }

  private def childrenOfClosed(range: ShardRange): Seq[ChildShard] = {
    val shard = range.shard.shard
    ShardEnd
      .childrenOfClosed(paced.shards, shard)
      .getOrElse(throw ShardEnd.mistaken(ref, shard))
  }
}

object ShardRangeReader {

  /** Most expirations of an iterator in a row, because the calls are repeated at once. */
  private val MostExpirations = 20
  private val ShardIsGone = "the shard or the stream does not exist any more"
}
