package sparkkinesis.source.replay

import java.time.Instant

import scala.annotation.tailrec

import org.slf4j.LoggerFactory

import sparkkinesis.client.{Clock, KinesisException, Page, ShardIterator}
import sparkkinesis.compat._
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{ChildShard, PackedRecords, Position}
import sparkkinesis.source.fetch.{RetentionCheck, ShardEnd}
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.protocol.ShardRange
import sparkkinesis.source.{DataLossException, StreamClient}

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
  private val retention = new RetentionCheck(client, ref)
  private var lost = 0L
  private var isTolerated = false // whether a range that is behind the retention was counted

  /** Number of ranges that this attempt read only in part, with `failOnDataLoss` set to `false`. */
  def lostRanges: Long = lost

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
    isTolerated = false
    Iterator.unfold(Option(Reading(range.from, None, range.completeAsOf))) {
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
        tolerate(loss)
        (PackedRecords.Empty, None)
    }

  private def readPage(
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
          tolerate(loss)
          (wanted, None)
        case None =>
          (wanted, Some(Reading(read, page.next, lastArrival(wanted).orElse(reading.completeAsOf))))
      }
  }

  private def lastArrival(read: PackedRecords): Option[Instant] =
    read.indices.lastOption.map(last => Instant.ofEpochMilli(read.arrivalMillis(last)))

  private def tolerate(loss: DataLossException): Unit = {
    lost += 1
    log.warn(s"${loss.getMessage} The query continues, because 'failOnDataLoss' is 'false'.")
  }

  /**
   * Checks where a range starts, and also later pages of a batch query: its last record is not
   * known, so a loss on the way is not noticed otherwise. Counts a tolerated loss once per range.
   */
  private def checkRetention(range: ShardRange, reading: Reading): Unit = {
    val isStart = reading.progress == range.from
    val isChecked = !isTolerated && (isStart || range.until.nonEmpty)
    if (isChecked && reading.completeAsOf.exists(retention.hasPassed(_, clock.now))) {
      val where = if (isStart) "start" else "current position"
      val loss = lossOf(range, s"records at its $where have been trimmed", reading.completeAsOf)
      if (settings.failOnDataLoss) throw loss
      isTolerated = true
      tolerate(loss)
    }
  }

  private def lossOf(
      range: ShardRange,
      reason: String,
      completeAsOf: Option[Instant]
  ): DataLossException =
    new DataLossException(ref, range, s"$reason (${retention.extent(completeAsOf, clock.now)})")

  private def isDone(range: ShardRange, read: Progress, page: Page): Boolean =
    read == range.upTo || range.upTo == Progress.Finished && page.next.isEmpty

  private def isTip(page: Page): Boolean = page.records.isEmpty && page.millisBehindLatest == 0

  /**
   * The range's last record existed, so reaching a later record or the tip without it is a loss.
   */
  private def lossIn(range: ShardRange, page: Page, wanted: Int): Option[DataLossException] = {
    val isPassed = wanted < page.records.size
    val isAtEnd = page.next.isEmpty || isTip(page)
    Option.when(range.upTo != Progress.Finished && (isPassed || isAtEnd)) {
      lossOf(range, "its last record is gone", range.completeAsOf)
    }
  }

  @tailrec
  private def fetch(range: ShardRange, reading: Reading, failures: Int): Page = {
    if (isCancelled())
      throw new InterruptedException(s"Reading $range of stream $ref was cancelled.")
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
        log.debug(s"Retrying $range of stream $ref after a failure: ${failure.getMessage}")
        clock.sleep(FetchSettings.RetryBackoff.delay(failures + 1, chance()))
        fetch(range, reading.copy(iterator = None), failures + 1)
      case Left(failure) => throw failure
    }
  }

  private def attempt(range: ShardRange, reading: Reading): Either[KinesisException, Page] =
    try {
      checkRetention(range, reading)
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

  /** Failures in a row, with delays of up to ten seconds: about two minutes. */
  private val MaxFailures = 20

  /** @param completeAsOf all records of the range that arrived before have been read */
  private final case class Reading(
      progress: Progress,
      iterator: Option[ShardIterator],
      completeAsOf: Option[Instant]
  )
}
