package sparkkinesis.source.watch

import java.time.Instant
import java.util.concurrent.locks.ReentrantLock

import scala.concurrent.duration._

import org.slf4j.LoggerFactory

import sparkkinesis.client.{Backoff, KinesisException, ShardFilter, ShardSnapshot}
import sparkkinesis.model.offset.{Progress, StreamOffset}
import sparkkinesis.model.{Position, Shard, ShardId}
import sparkkinesis.source.checkpoint.StreamIdentity
import sparkkinesis.source.{SourceException, StreamClient}

/**
 * Looks at a stream's shards now and then, beside the query: is each one looked after, and is it still the
 * same stream? What it finds counts only when it is found twice, an interval apart. Has no thread; safe for use by
 * many.
 *
 * @param interval between two looks, but for jitter, and for longer after a failed one
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
  private val looking = new ReentrantLock // one look at a time
  private val retries = Backoff(interval, interval.max(LongestPause))
  private var offset = Option.empty[StreamOffset]
  private var before = Vector.empty[Shard]
  private var suspicion = PendingFindings.Nothing
  private var standing = Option.empty[AuditFindings]
  private var failure = Option.empty[SourceException]
  private var failures = 0
  private var adopted = 0L
  private var failed = 0L

  /** The next batch begins there: from now on that is what is looked at. */
  def planned(begin: StreamOffset): Unit = synchronized { offset = Some(begin) }

  /** @throws SourceException where the stream is another one, or a shard would be lost */
  def check(): Unit = synchronized(failure.foreach(cause => throw cause))

  /** How often shards were taken up that nobody had looked after. */
  def lostRanges: Long = synchronized(adopted)

  /** Listings that failed. */
  def failedListings: Long = synchronized(failed)

  /**
   * The end of a batch with what no batch would ever read, if `failOnDataLoss` is `false`.
   *
   * @param end itself where nothing is amiss
   */
  def mended(end: StreamOffset): StreamOffset = synchronized {
    standing.fold(end) { findings =>
      standing = None
      suspicion = PendingFindings.Nothing
      offset = None // until the mended one is known, looking would find the same again
      adopted += findings.missing.size.toLong + findings.forsaken.size
      log.warn(s"${AuditReport.text(ref, findings)} Going on with what is left, as it is.")
      findings.mend(end)
    }
  }

  /**
   * Lists the shards, and judges.
   *
   * @return the pause until the next look
   */
  def look(now: Instant): FiniteDuration = {
    looking.lockInterruptibly()
    try synchronized(offset).fold(jittered)(look(_, now))
    finally looking.unlock()
  }

  private def look(from: StreamOffset, now: Instant): FiniteDuration =
    try {
      val listed = ShardSnapshot.list(client, ref, ShardFilter.FromTrimHorizon).shards
      if (isOdd(from, listed)) verify(from)
      judge(from, listed, now)
      failures = 0
      before = listed.toVector
      jittered
    } catch { case e: KinesisException => recover(e, from, now) }

  /**
   * Whether the last look has settled all there was to ask. A run that is about to end waits for it.
   *
   * @param begin where the next batch would begin
   */
  def hasSettled(begin: StreamOffset, now: Instant): Boolean = {
    planned(begin)
    if (suspicion.isDue(now, interval)) look(now)
    check()
    synchronized(standing.isEmpty && suspicion.isOver)
  }

  /** After a failure elsewhere: that it was deleted, or made again, explains it better. */
  def explain(begin: StreamOffset): Unit =
    try explainQuietly(begin)
    finally check()

  /** A shard that begins behind what was read of it, or began elsewhere before, is another's. */
  private def isOdd(begin: StreamOffset, listed: Seq[Shard]): Boolean = {
    val firsts = before.map(shard => shard.id -> shard.first).toMap
    listed.exists { shard =>
      firsts.get(shard.id).exists(_ != shard.first) ||
      begin.shards.get(shard.id).map(_.progress).exists {
        case Progress.After(number) => number < shard.first
        case Progress.From(number) => number < shard.first
        case _ => false
      }
    }
  }

  private def verify(begin: StreamOffset): Unit = {
    val cause = StreamIdentity.changed(client, ref, begin)
    synchronized { failure = failure.orElse(cause) }
  }

  private def judge(
      begin: StreamOffset,
      listed: Seq[Shard],
      now: Instant
  ): Unit = {
    val verdict = ShardAudit.of(begin, listed).map { findings =>
      // Else the listing is late, and what it lacks is still to come.
      val isCertain = findings.isEmpty || findings.unlisted.forall(isGone)
      if (isCertain) findings else AuditFindings.None
    }
    if (verdict.exists(!_.isEmpty)) verify(begin)
    synchronized {
      suspicion = verdict.fold(suspicion.unjudged(now))(suspicion.judged(_, now))
      suspicion.standing(now, interval * 9 / 10).foreach(conclude)
    }
    val unsettled = suspicion.unsettled
    if (unsettled >= NoteworthyLooks && Integer.bitCount(unsettled) == 1) // the 4th, 8th, 16th ...
      log.warn(
        s"The listing of stream $ref has contradicted itself, or lacked a shard that is read, $unsettled " +
          "times in a row: whether every shard is looked after cannot be told."
      )
  }

  private def conclude(findings: AuditFindings): Unit =
    if (failOnDataLoss) failure = failure.orElse(Some(AuditReport.failure(ref, findings)))
    else standing = Some(findings)

  private def isGone(shard: ShardId): Boolean =
    try {
      client.shardIterator(ref, shard, Position.TrimHorizon)
      false
    } catch { case _: KinesisException.NotFound => true }

  /** What is known is read on: a listing is needed for what goes wrong only. */
  private def recover(e: KinesisException, begin: StreamOffset, now: Instant): FiniteDuration = {
    e match {
      case _: KinesisException.NotFound => explainQuietly(begin)
      case _ =>
    }
    failures += 1
    synchronized {
      failed += 1
      suspicion = suspicion.failed(now, failures)
    }
    if (Integer.bitCount(failures) == 1) // the 1st, 2nd, 4th, 8th ...
      log.warn(
        s"The shards of stream $ref could not be listed, $failures times in a row. Those that are " +
          s"known are read on. ${e.getMessage}"
      )
    interval.max(retries.delay(failures, chance()))
  }

  private def explainQuietly(begin: StreamOffset): Unit =
    try verify(begin)
    catch { case e: KinesisException => log.debug(s"Stream $ref was not described.", e) }

  private def jittered: FiniteDuration = (interval * (0.9 + 0.2 * chance())).toMillis.millis
}

object StreamWatch {
  private val LongestPause = 5.minutes
  private val NoteworthyLooks = 4
}
