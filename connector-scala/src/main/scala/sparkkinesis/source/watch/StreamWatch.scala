package sparkkinesis.source.watch

import java.time.Instant

import scala.concurrent.duration._

import org.slf4j.LoggerFactory

import sparkkinesis.client.{Backoff, KinesisException, ShardFilter, ShardLister}
import sparkkinesis.model.offset.{Progress, StreamOffset}
import sparkkinesis.model.{Position, SequenceNumber, Shard, ShardId}
import sparkkinesis.source.checkpoint.StreamIdentity
import sparkkinesis.source.{DataLoss, SourceException, StreamClient}

/**
 * Checks one stream of a running query: whether the query will read each listed shard, and whether
 * the stream is still the same one. Has no thread. One thread at a time calls `inspect`; any thread
 * may call the other methods, which use the results of earlier inspections.
 *
 * @param interval between two inspections, plus jitter; longer after failed ones
 * @param chance evenly distributed in `[0, 1)`, for jitter
 */
final class StreamWatch(
    stream: StreamClient,
    failOnDataLoss: Boolean,
    interval: FiniteDuration,
    chance: () => Double
) {
  import StreamWatch._
  import stream.{client, ref}

  private val log = LoggerFactory.getLogger(classOf[StreamWatch])
  private val lister = new ShardLister(client, ref, ShardFilter.FromTrimHorizon)
  private val retries = Backoff(interval, interval.max(LongestPause))
  private var start = Option.empty[StreamOffset]
  private var state = AuditState.Initial
  private var failure = Option.empty[SourceException]
  private var repairs = 0L
  private var failed = 0L
  private var isAwaited = false // whether a run waits for an inspection before it ends
  private var firstNumbers = Map.empty[ShardId, SequenceNumber] // of the last listing

  /** Sets where the next batch starts. Later inspections compare this offset with the listing. */
  def advance(next: StreamOffset): Unit = synchronized { start = Some(next) }

  /**
   * @throws SourceException if the stream was deleted or recreated, or a shard would never be read
   */
  def check(): Unit = synchronized(failure.foreach(cause => throw cause))

  /** Whether `check` throws. */
  def hasFailed: Boolean = synchronized(failure.nonEmpty)

  /** Number of shards that the query would never have read without a repair. */
  def lostRanges: Long = synchronized(repairs)

  /** Number of inspections that failed. */
  def failedListings: Long = synchronized(failed)

  /**
   * Repairs the end of a batch with the confirmed findings, if `failOnDataLoss` is `false`.
   *
   * @return `end` itself if there are none
   */
  def repair(end: StreamOffset): StreamOffset = synchronized {
    val confirmed = if (failOnDataLoss) None else state.confirmed(interval)
    confirmed.fold(end) { findings =>
      state = AuditState.Initial
      start = None // until a batch starts at the repaired offset: before, each audit finds the same
      repairs += findings.size
      log.warn(DataLoss.tolerated(AuditReport.text(ref, findings)))
      findings.repair(end)
    }
  }

  /**
   * Whether a run may end. It waits until an inspection is conclusive and pending findings are
   * confirmed or refuted, but not forever.
   *
   * @throws SourceException as `check`
   */
  def isSettled: Boolean = synchronized {
    check()
    isAwaited = start.nonEmpty && !state.isSettled
    !isAwaited
  }

  /**
   * Explains a failure elsewhere: throws the better explanation if the stream was deleted or
   * recreated.
   *
   * @throws SourceException as `check`
   */
  def explain(offset: StreamOffset): Unit = {
    check()
    changed(offset).foreach(cause => throw cause)
  }

  /**
   * Lists the shards and audits them.
   *
   * @param now of a clock that never jumps
   * @return the pause until the next inspection
   */
  def inspect(now: Instant): FiniteDuration = synchronized(start).fold(interval.min(Soon)) { from =>
    try {
      val listed = lister.list().shards
      if (looksRecreated(from, listed)) verify(from)
      audit(from, listed, now)
      firstNumbers = listed.map(shard => shard.id -> shard.first).toMap
      if (synchronized(isAwaited && state.isRepeatedSoon)) interval.min(Soon)
      else (interval * (0.9 + 0.2 * chance())).toMillis.millis
    } catch {
      case e: KinesisException.NotFound =>
        changed(from).foreach(fail)
        retry(e)
      case e: KinesisException => retry(e)
    }
  }

  private def audit(from: StreamOffset, listed: Seq[Shard], now: Instant): Unit = {
    val findings = ShardAudit.of(from, listed).map { found =>
      val isOutdated = !found.isEmpty && !ShardAudit.unlisted(from, listed).forall(isGone)
      if (isOutdated) AuditFindings.None else found
    }
    if (findings.exists(!_.isEmpty)) verify(from)
    val next = synchronized {
      state = findings.fold(state.unclear)(state.conclusive(_, now))
      if (failOnDataLoss)
        state.confirmed(interval).foreach(found => fail(AuditReport.failure(ref, found)))
      state
    }
    if (next.inconclusive >= NoteworthyCount && isPowerOfTwo(next.inconclusive))
      log.warn(
        s"${next.inconclusive} listings of stream $ref in a row were inconsistent or lacked a " +
          "shard that is being read. The connector cannot check whether the query reads every " +
          "shard."
      )
  }

  private def isGone(shard: ShardId): Boolean =
    try {
      client.shardIterator(ref, shard, Position.TrimHorizon)
      false
    } catch { case _: KinesisException.NotFound => true }

  /** Whether a shard starts elsewhere than before, or after a record that was read from it. */
  private def looksRecreated(from: StreamOffset, listed: Seq[Shard]): Boolean =
    listed.exists { shard =>
      firstNumbers.get(shard.id).exists(_ != shard.first) ||
      from.shards.get(shard.id).map(_.progress).exists {
        case Progress.After(number) => number < shard.first
        case Progress.From(number) => number < shard.first
        case _ => false
      }
    }

  /** @throws KinesisException if the service does not describe the stream */
  private def verify(from: StreamOffset): Unit =
    StreamIdentity.changed(client, ref, from).foreach(fail)

  private def changed(from: StreamOffset): Option[SourceException] =
    try StreamIdentity.changed(client, ref, from)
    catch {
      case e: KinesisException =>
        log.debug(s"DescribeStreamSummary failed for stream $ref.", e)
        None
    }

  /** Inspecting cannot continue, so the query ends. */
  def crashed(cause: Throwable): Unit = fail(
    new SourceException(
      "KINESIS_INTERNAL_ERROR",
      s"The query cannot check the shards of stream $ref any more: $cause. If memory was short, " +
        "give the driver more ('spark.driver.memory'). Then restart the query: it continues from " +
        "its checkpoint."
    )
  )

  private def fail(cause: SourceException): Unit = synchronized {
    failure = failure.orElse(Some(cause))
  }

  /**
   * Counts a failed inspection. The query continues with the shards that it knows.
   *
   * @return the pause until the next inspection
   */
  def retry(cause: Throwable): FiniteDuration = {
    val failures = synchronized {
      failed += 1
      state = state.failed
      state.failures
    }
    if (isPowerOfTwo(failures))
      log.warn(
        s"Listing the shards of stream $ref failed $failures times in a row. The query continues " +
          s"with the shards that it knows. Cause: ${cause.getMessage}"
      )
    interval.max(retries.delay(failures, chance()))
  }
}

object StreamWatch {
  private val LongestPause = 5.minutes
  private val Soon = 1.second
  private val NoteworthyCount = 4

  /** Logs repeated problems ever less often. */
  private def isPowerOfTwo(count: Int): Boolean = Integer.bitCount(count) == 1
}
