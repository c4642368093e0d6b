package sparkkinesis.source.query

import java.time.Instant

import scala.concurrent.duration._
import scala.util.control.NonFatal
import scala.util.{Failure, Success, Try}

import org.slf4j.LoggerFactory

import sparkkinesis.client.{Backoff, KinesisException, Moment, StreamSummary}
import sparkkinesis.compat._
import sparkkinesis.model.offset.{Progress, StreamOffset}
import sparkkinesis.model.{SequenceNumber, Shard, ShardId, StreamRef}
import sparkkinesis.shard.{DataLoss, SourceException}
import sparkkinesis.source.checkpoint.{DescribedStream, ExpiredShards, ListingHole}
import sparkkinesis.source.watch._

/**
 * Watches one stream of a query: whether it is the stream of the checkpoint, whether the query will
 * read each listed shard, and whether the records are still there.
 *
 * An inspection lists the shards and compares them with an offset. If something is amiss, it asks
 * whether shards have expired, and then for a description of the stream.
 *
 * @param interval between two inspections, plus jitter; longer after failed ones
 * @param retryTimeout how long listings may lack a shard; `None` if for ever
 * @param chance evenly distributed in `[0, 1)`, for jitter
 */
private[query] final class StreamWatch(
    stream: DescribedStream,
    failOnDataLoss: Boolean,
    interval: FiniteDuration,
    retryTimeout: Option[FiniteDuration],
    chance: () => Double
) {
  import StreamWatch._
  import stream.arn

  private val log = LoggerFactory.getLogger(classOf[StreamWatch])
  private val retries = Backoff(interval, interval.max(LongestPause))
  private val expired = new ExpiredShards(stream, failOnDataLoss)
  private var start = Option.empty[StreamOffset]
  private var state = AuditState.Initial
  private var failure = Option.empty[SourceException]
  private var repairs = 0L
  private var failed = 0L
  private var isAwaited = false // whether a run waits for an inspection before it ends
  private val holes = new Holes(stream.access.ref, retryTimeout)
  private var closedShards = Set.empty[ShardId]
  private var firstNumbers = Map.empty[ShardId, SequenceNumber] // of the last listing

  private var nextAt = Option(LongAgo) // by the steady clock; none while it inspects
  private var inspection: Inspection = NoInspection
  private var isExplaining = false // whether a failure elsewhere waits for a description
  private var isMissing = false // whether a listing says that the stream does not exist
  private var retention = stream.retention
  private var describeAt = Option.empty[Instant] // at the latest
  private var expiring = Option.empty[Expiry] // before a warning, the stream is described again
  private var quietUntil = LongAgo // between two warnings

  /**
   * @throws SourceException if the stream was created again since the offset was written, or if
   *   records may have expired before they were read
   */
  def checkStart(offset: StreamOffset, now: Moment): Unit = {
    stream.recreated(offset.created).foreach(cause => throw cause)
    expired.check(offset, now.now)
  }

  /** Sets where the next batch starts. Later inspections compare this offset with the listing. */
  def advance(next: StreamOffset): Unit = start = Some(next)

  /**
   * @throws SourceException if the stream was deleted or recreated, or a shard would never be read
   */
  def check(): Unit = failure.foreach(cause => throw cause)

  /** Whether `check` throws. */
  def hasFailed: Boolean = failure.nonEmpty

  /** Shards that lost records before this run, or that no batch would read without a repair. */
  def lostRanges: Long = expired.count + repairs

  /** Number of inspections that failed. */
  def failedListings: Long = failed

  /** Number of ranges of hash keys and of parents that the last listing lacks. */
  def listingHoles: Int = holes.size

  /** The shards that the last listing shows as closed. */
  def closed: Set[ShardId] = closedShards

  /** See [[ExpiredShards.withoutReported]]. */
  def withoutReportedLoss(offset: StreamOffset): StreamOffset = expired.withoutReported(offset)

  /**
   * Repairs the end of a batch with the confirmed findings, if `failOnDataLoss` is `false`.
   *
   * @return `end` itself if there are none
   */
  def repair(end: StreamOffset): StreamOffset = {
    val confirmed = if (failOnDataLoss) None else state.confirmed(interval)
    confirmed.fold(end) { findings =>
      state = AuditState.Initial
      start = None // until a batch starts at the repaired offset: before, each audit finds the same
      repairs += findings.size
      log.warn(DataLoss.tolerated(findings.text(stream.access.ref)))
      findings.repair(end)
    }
  }

  /**
   * Whether a run may end. It waits until an inspection is conclusive and pending findings are
   * confirmed or refuted, but not forever. While listings lack a shard, it waits for
   * `retryTimeout`.
   *
   * @throws SourceException as `check`
   */
  def isSettled: Boolean = {
    check()
    isAwaited = start.nonEmpty && (!state.isSettled || holes.areHarmful)
    !isAwaited
  }

  /**
   * Begins an inspection if one is due. Describes the stream from time to time, because its
   * retention period may change.
   */
  def tick(now: Moment): Vector[Command] = start.toVector.flatMap { from =>
    val mustDescribe = describeAt.exists(!now.steady.isBefore(_))
    if (mustDescribe || describeAt.isEmpty)
      describeAt = Some(now.steady.plusMillis(DescriptionPeriod.toMillis))
    val inspects = isDue(now)
    if (inspects) {
      nextAt = None
      inspection = Listing(from)
    }
    Option.when(inspects)(Command.List(arn)) ++ Option.when(mustDescribe)(Command.Describe(arn))
  }

  private def isDue(now: Moment) = nextAt.exists(!now.steady.isBefore(_))

  def listed(answer: Try[Seq[Shard]], now: Moment): Option[Command] = (inspection, answer) match {
    case (Listing(from), Success(shards)) =>
      closedShards = shards.filterNot(_.isOpen).map(_.id).toSet
      val findings = ShardAudit.of(from, shards)
      val isAmiss = findings.exists(!_.isEmpty)
      val unlisted = ShardAudit.unlisted(from, shards)
      val parents = findings
        .fold(Set.empty[ShardId])(_.blocked.map(_.parent).toSet)
        .diff(shards.map(_.id).toSet)
      val listed = Listed(from, shards, findings, ListingHole.ofOpen(shards), unlisted.isEmpty)
      val doubtful = if (isAmiss) unlisted ++ parents else Set.empty[ShardId]
      if (doubtful.isEmpty) verified(listed, now)
      else {
        inspection = Probing(listed, parents)
        Some(Command.Probe(arn, doubtful))
      }
    case (_: Listing, Failure(cause)) =>
      failedBy(cause, now)
      isMissing = cause.isInstanceOf[KinesisException.NotFound]
      Option.when(isMissing)(Command.Describe(arn))
    case _ => None
  }

  /** @param answer whether the service knows none of the shards any more */
  def probed(answer: Try[Boolean], now: Moment): Option[Command] = (inspection, answer) match {
    case (Probing(listed, parents), Success(areGone)) =>
      if (areGone) verified(listed, now)
      else {
        val hole = listed.hole.copy(parents = parents)
        verified(listed.copy(findings = Some(AuditFindings.None), hole = hole), now)
      }
    case (_: Probing, Failure(cause)) =>
      failedBy(cause, now)
      None
    case _ => None
  }

  /** Findings about another stream of this name count for nothing. */
  private def verified(listed: Listed, now: Moment): Option[Command] =
    if (listed.findings.exists(!_.isEmpty) || looksRecreated(listed.from, listed.shards)) {
      inspection = Verifying(listed)
      Some(Command.Describe(arn))
    } else {
      concluded(listed, now)
      None
    }

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

  private def concluded(listed: Listed, now: Moment): Unit = {
    inspection = NoInspection
    holes.found(listed, now.steady).foreach(_.fold(fail, log.warn(_)))
    state = listed.findings.fold(state.unclear)(state.conclusive(_, now.steady))
    if (failOnDataLoss)
      state
        .confirmed(interval)
        .foreach(found => fail(found.failure(stream.access.ref)))
    if (state.inconclusive >= NoteworthyCount && isPowerOfTwo(state.inconclusive))
      log.warn(
        s"${state.inconclusive} listings of stream $arn in a row were inconsistent or lacked a " +
          "shard that is being read. The connector cannot check whether the query reads every " +
          "shard."
      )
    firstNumbers = listed.shards.map(shard => shard.id -> shard.first).toMap
    val pause =
      if (isAwaited && state.isRepeatedSoon) interval.min(Soon)
      else {
        val usual = if (holes.size == 0) interval else interval.min(HoleInterval)
        (usual * (0.9 + 0.2 * chance())).toMillis.millis
      }
    rest(pause, now)
  }

  private def rest(pause: FiniteDuration, now: Moment): Unit =
    nextAt = Some(now.steady.plusMillis(pause.toMillis))

  def described(answer: Try[StreamSummary], now: Moment): Option[Command] = {
    val isDoubted = isExplaining || isMissing || inspection.isInstanceOf[Verifying]
    isExplaining = false
    isMissing = false
    answer match {
      case Success(summary) =>
        retention = summary.retention
        val before = start.fold(stream.summary.created)(_.created)
        stream.recreated(before, summary.created).foreach(fail)
      case Failure(_: KinesisException.NotFound) if isDoubted => fail(stream.deleted)
      // One answer may be wrong. The next listing says the same if it is not.
      case Failure(_: KinesisException.NotFound) => nextAt = nextAt.map(_ => LongAgo)
      case Failure(cause) => log.debug(s"DescribeStreamSummary failed for stream $arn.", cause)
    }
    inspection match {
      case Verifying(listed) =>
        answer.fold(failedBy(_, now), _ => concluded(listed, now))
      case _ =>
    }
    warning(now)
  }

  /**
   * A failure elsewhere may have its reason in the stream. A deleted or recreated stream explains
   * it better.
   */
  def explain(): Command = {
    isExplaining = true
    Command.Describe(arn)
  }

  /** Whether a failure elsewhere may have an explanation soon. */
  def mayExplain: Boolean = isExplaining

  /**
   * Before a warning that records expire soon, the stream is described, because its retention
   * period may have changed.
   *
   * @param soonest of the stream's shards, by the retention period that is known
   */
  def looksAt(soonest: Expiry, now: Moment): Option[Command] =
    Option.when(expiring.isEmpty && soonest.isNear && !now.steady.isBefore(quietUntil)) {
      expiring = Some(soonest)
      Command.Describe(arn)
    }

  private def warning(now: Moment): Option[Command] = {
    val near = expiring.map(_.copy(retention = retention)).filter(_.isNear)
    expiring = None
    near.map { expiry =>
      quietUntil = now.steady.plusMillis(Quiet.toMillis)
      Command.Warn(expiry.warning)
    }
  }

  /** The retention period as it was described last. */
  def retained: FiniteDuration = retention

  def serviceTime(now: Moment): Instant = stream.time.at(now.now)

  /** The query continues with the shards that it knows. */
  private def failedBy(cause: Throwable, now: Moment): Unit = {
    inspection = NoInspection
    holes.unknown()
    cause match {
      case _: KinesisException | NonFatal(_) | _: InterruptedException => // by a library
        failed += 1
        state = state.failed
        if (isPowerOfTwo(state.failures))
          log.warn(
            s"Listing the shards of stream $arn failed ${state.failures} times in a row. The " +
              s"query continues with the shards that it knows. Cause: $cause"
          )
        rest(interval.max(retries.delay(state.failures, chance())), now)
      case _ =>
        fail(
          new SourceException(
            "KINESIS_INTERNAL_ERROR",
            s"The query cannot check the shards of stream $arn any more: $cause. If memory was " +
              "short, give the driver more ('spark.driver.memory'). Then restart the query: it " +
              "continues from its checkpoint."
          )
        )
    }
  }

  private def fail(cause: SourceException): Unit = failure = failure.orElse(Some(cause))
}

private object StreamWatch {
  private val LongAgo = Instant.ofEpochMilli(Long.MinValue / 2)
  private val LongestPause = 5.minutes
  private val Soon = 1.second
  private val Quiet = 5.minutes

  /** Shorter than the time between two confirmations of an idle query, 90 minutes at least. */
  private val DescriptionPeriod = 1.hour
  private val NoteworthyCount = 4

  /** The longest time between two listings while they lack a shard. */
  private val HoleInterval = 10.seconds

  /** Logs repeated problems ever less often. */
  private def isPowerOfTwo(count: Int): Boolean = Integer.bitCount(count) == 1

  /** How far an inspection is: which answer it waits for. */
  private sealed trait Inspection
  private case object NoInspection extends Inspection

  /** @param from the offset that is compared with the listing */
  private final case class Listing(from: StreamOffset) extends Inspection

  /** @param parents that shards of the query wait for, and that are not listed */
  private final case class Probing(listed: Listed, parents: Set[ShardId]) extends Inspection
  private final case class Verifying(listed: Listed) extends Inspection

  /** @param hasAll whether it has all shards of the offset */
  private final case class Listed(
      from: StreamOffset,
      shards: Seq[Shard],
      findings: Option[AuditFindings],
      hole: ListingHole,
      hasAll: Boolean
  )

  /**
   * What the listings of a stream lack, and for how long. Nothing is waited for in silence, or for
   * ever. Just after a reshard a listing may be late.
   */
  private final class Holes(stream: StreamRef, retryTimeout: Option[FiniteDuration]) {
    import Holes._

    private var hole = ListingHole.None // of all listings since `since`
    private var since = LongAgo
    private var nextWarning = FirstWarning // after this time
    private var harmful = 0 // lists in a row with a hole that does harm
    private var harmfulSince = LongAgo
    private var doesHarm = false

    /** Number of ranges of hash keys and of parents that the last listing lacks. */
    def size: Int = hole.size

    /** Whether records are not read because of them. */
    def areHarmful: Boolean = doesHarm

    /** A listing failed. */
    def unknown(): Unit = harmful = 0

    /** @return why the query fails, or a warning */
    def found(listed: Listed, now: Instant): Option[Either[SourceException, String]] = {
      val still = hole.intersect(listed.hole)
      if (still.isEmpty) {
        since = now
        harmful = 0
        nextWarning = FirstWarning
      }
      hole = if (still.isEmpty) listed.hole else still.copy(parents = listed.hole.parents)
      // A shard of the query that is not listed may have these hash keys.
      doesHarm = hole.parents.nonEmpty || hole.hashKeys.nonEmpty && listed.hasAll
      if (!doesHarm) harmful = 0
      else {
        if (harmful == 0) harmfulSince = now
        harmful += 1
      }
      judged(now)
    }

    private def judged(now: Instant): Option[Either[SourceException, String]] = {
      val lasted = (now.toEpochMilli - since.toEpochMilli).millis
      val text = s"It has returned such a list for ${DataLoss.text(lasted)}"
      val isForLong = harmful >= LeastHarmful && retryTimeout.exists { most =>
        !now.isBefore(harmfulSince.plusMillis(most.max(FirstWarning).toMillis))
      }
      if (isForLong)
        Some(Left(hole.failure(stream, s"$text ('retryTimeout' is ${retryTimeout.mkString})")))
      else if (hole.isEmpty || lasted < nextWarning) None
      else {
        nextWarning = lasted * 2
        Some(Right(s"${hole.text(stream)} $text. The query may not read all records."))
      }
    }
  }

  private object Holes {

    /**
     * How long listings lack a shard before a warning: the next one has it, after most reshards.
     */
    val FirstWarning: FiniteDuration = 8.seconds

    /** One list may be wrong. */
    val LeastHarmful = 3
  }
}
