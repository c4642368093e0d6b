package sparkkinesis.source.replay

import java.time.Instant

import scala.annotation.tailrec

import org.slf4j.LoggerFactory

import sparkkinesis.client.{Clock, KinesisException, Page, ShardIterator}
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{ChildShard, PackedRecords, Position}
import sparkkinesis.source.fetch.{RetentionCheck, ShardEnd}
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.protocol.ShardRange
import sparkkinesis.source.{DataLossException, StreamClient}

/**
 * Reads exactly the records of a range again, from Kinesis. Correctness rests on this, never on what was
 * read ahead.
 *
 * @param settings for the page size and pace
 * @param isCancelled asked between calls
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
  private val horizon = new RetentionCheck(client, ref)
  private var lost = 0L
  private var isChecked = false // whether the range's beginning was found trimmed, and passed over

  /** Ranges of which a part was missing and passed over, by this attempt. */
  def lostRanges: Long = lost

  /**
   * In order, a page at a time.
   *
   * @param atEnd hears of the children, where the range reaches the shard's end
   * @throws DataLossException as soon as it is certain that a part is missing, from `next`
   */
  def pages(
      range: ShardRange,
      atEnd: Seq[ChildShard] => Unit = _ => ()
  ): Iterator[PackedRecords] = {
    isChecked = false
    Iterator.unfold(Option(Reading(range.from, None, range.completeAsOf))) {
      _.map(next(range, _, atEnd))
    }
  }

  private def next(
      range: ShardRange,
      reading: Reading,
      atEnd: Seq[ChildShard] => Unit
  ): (PackedRecords, Option[Reading]) =
    try onward(range, reading, atEnd)
    catch {
      case loss: DataLossException if !settings.failOnDataLoss =>
        passOver(loss)
        (PackedRecords.Empty, None)
    }

  private def onward(
      range: ShardRange,
      reading: Reading,
      atEnd: Seq[ChildShard] => Unit
  ): (PackedRecords, Option[Reading]) = {
    if (reading.iterator.nonEmpty) clock.sleep(settings.minPeriod)
    val page = fetch(range, reading, 0)
    val records = PackedRecords(page.records)
    val wanted = range.upTo match {
      case Progress.After(last) =>
        records.take(records.countWhile(records.sequenceNumber(_) <= last))
      case _ =>
        range.until.fold(records) { end =>
          records.take(records.countWhile(records.arrivalMillis(_) < end.millis))
        }
    }
    val read =
      if (wanted.isEmpty) reading.progress
      else Progress.After(wanted.sequenceNumber(wanted.size - 1))
    val isPassed = wanted.size < records.size
    if (page.next.isEmpty && !isPassed) atEnd(page.children)
    if (isDone(range, read, page) || range.until.nonEmpty && (isPassed || isTip(page)))
      (wanted, None)
    else
      lossIn(range, page, wanted.size) match {
        case Some(loss) if settings.failOnDataLoss => throw loss
        case Some(loss) =>
          passOver(loss)
          (wanted, None)
        case None =>
          (wanted, Some(Reading(read, page.next, unreadSince(wanted).orElse(reading.unreadSince))))
      }
  }

  private def unreadSince(read: PackedRecords): Option[Instant] =
    read.indices.lastOption.map(last => Instant.ofEpochMilli(read.arrivalMillis(last)))

  private def passOver(loss: DataLossException): Unit = {
    lost += 1
    log.warn(s"${loss.getMessage} Going on, as it is.")
  }

  /**
   * Once a range, however often the call that follows is made. Nothing tells the last record of a batch
   * read: it must not be overtaken on the way either.
   */
  private def checkHorizon(range: ShardRange, reading: Reading): Unit = {
    val isOwed = reading.progress == range.from || range.until.nonEmpty
    if (!isChecked && isOwed && reading.unreadSince.exists(horizon.hasPassed(_, clock.now))) {
      val verb = if (reading.progress == range.from) "begins" else "goes on"
      val loss = lossOf(range, s"it $verb where records have been trimmed", reading.unreadSince)
      if (settings.failOnDataLoss) throw loss
      isChecked = true
      passOver(loss)
    }
  }

  private def lossOf(
      range: ShardRange,
      reason: String,
      since: Option[Instant]
  ): DataLossException =
    new DataLossException(ref, range, s"$reason (${horizon.extent(since, clock.now)})")

  private def isDone(range: ShardRange, read: Progress, page: Page): Boolean =
    read == range.upTo || range.upTo == Progress.Finished && page.next.isEmpty

  private def isTip(page: Page): Boolean = page.records.isEmpty && page.millisBehindLatest == 0

  /** The last record of the range exists, so passing it, or reaching the tip, without it is loss. */
  private def lossIn(range: ShardRange, page: Page, wanted: Int): Option[DataLossException] = {
    val isPassed = wanted < page.records.size
    val isAtEnd = page.next.isEmpty || isTip(page)
    Option.when(range.upTo != Progress.Finished && (isPassed || isAtEnd)) {
      lossOf(range, "its last record is gone", range.completeAsOf)
    }
  }

  @tailrec
  private def fetch(range: ShardRange, reading: Reading, failures: Int): Page = {
    if (isCancelled()) throw new InterruptedException(s"Reading $range of $ref was cancelled.")
    attempt(range, reading) match {
      case Right(page) => page
      case Left(_: KinesisException.IteratorExpired) if failures < MaxFailures =>
        fetch(range, reading.copy(iterator = None), failures + 1)
      case Left(_: KinesisException.NotFound) =>
        throw lossOf(
          range,
          "the shard or the stream does not exist any more",
          range.completeAsOf
        )
      case Left(failure) if failure.isRetryable && failures < MaxFailures =>
        log.debug(s"Reading $range of $ref again, after: ${failure.getMessage}")
        clock.sleep(FetchSettings.RetryBackoff.delay(failures + 1, chance()))
        fetch(range, reading.copy(iterator = None), failures + 1)
      case Left(failure) => throw failure
    }
  }

  private def attempt(range: ShardRange, reading: Reading): Either[KinesisException, Page] =
    try {
      checkHorizon(range, reading)
      val position = Progress.position(reading.progress).getOrElse(Position.TrimHorizon)
      val iterator =
        reading.iterator.getOrElse(client.shardIterator(ref, range.shard.shard, position))
      val page = client.getRecords(ref, iterator, settings.maxRecords)
      if (page.next.nonEmpty) Right(page)
      else
        Right(page.copy(children = ShardEnd.children(client, ref, range.shard.shard, page)))
    } catch { case failure: KinesisException => Left(failure) }
}

object ShardRangeReader {

  /** In a row, with delays up to ten seconds: about two minutes of outage. */
  private val MaxFailures = 20

  /** @param unreadSince whatever arrived before has been read, or was not wanted */
  private final case class Reading(
      progress: Progress,
      iterator: Option[ShardIterator],
      unreadSince: Option[Instant]
  )
}
