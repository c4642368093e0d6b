package sparkkinesis.source.fetch

import java.time.Instant

import scala.collection.mutable
import scala.concurrent.duration._
import scala.util.{Failure, Success, Try}

import org.slf4j.LoggerFactory

import sparkkinesis.client.Moment
import sparkkinesis.compat._
import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.Progress
import sparkkinesis.shard.feed.{FeedCounts, ReadStep}
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.protocol._
import sparkkinesis.source.store.PageStore

/**
 * Every decision of an executor that reads ahead for one query: which shard is read next, and which
 * shards wait for room. [[Heartbeats]] decides what the driver hears, and when.
 *
 * Each method is an event. It returns what to do now; `wakeAt` says when to call `tick`. One thread
 * at a time. Runs of fetchers are outside: one per shard is in progress, and a result of a fetcher
 * that was replaced changes nothing.
 *
 * @param id of this service: see [[Heartbeat.service]]
 * @param newFetcher for an assignment, with the settings for its plan
 * @param counts of all feeds of the executor
 * @param chance evenly distributed in `[0, 1)`, for jitter
 */
private[source] final class FetchLoop(
    executor: String,
    host: String,
    id: String,
    names: String,
    settings: FetchSettings,
    store: PageStore,
    newFetcher: (Assignment, FetchSettings) => ShardFetcher,
    counts: FeedCounts,
    chance: () => Double
) {
  import FetchCommand._
  import FetchLoop._

  private val log = LoggerFactory.getLogger(classOf[FetchLoop])
  private val readings = mutable.Map.empty[StreamShard, Reading]
  private val resting = mutable.TreeSet.empty[(Instant, StreamShard)] // by the end of their rest
  private val waiting = mutable.LinkedHashSet.empty[StreamShard] // for room
  // By the arrival times, if the shards advance together.
  private val byAge = mutable.TreeSet.empty[(Instant, StreamShard)]
  private var wokenAt = Instant.EPOCH // when all shards that wait were woken last, if any waits
  private val heartbeats = new Heartbeats(executor, host, id, store, counts)
  private var isOver = false

  /** Time passes: shards whose rest has ended run, and a heartbeat that is due is sent. */
  def tick(now: Moment): Vector[FetchCommand] =
    if (isOver) Vector.empty
    else {
      if (waiting.nonEmpty && !now.steady.isBefore(wakeAllAt)) {
        wokenAt = now.steady
        wake(waiting.toVector, now)
      }
      val runs = Vector.newBuilder[FetchCommand]
      while (resting.headOption.exists(!_._1.isAfter(now.steady)))
        runs ++= begin(readings(resting.head._2), now)
      runs.result() ++ heartbeats.due(now, waiting.nonEmpty).map(Beat(_))
    }

  /** When to call `tick`, by the steady clock. */
  def wakeAt: Option[Instant] =
    if (isOver) None
    else
      (resting.headOption.map(_._1) ++ heartbeats.nextAt(waiting.nonEmpty) ++
        Option.when(waiting.nonEmpty)(wakeAllAt)).minOption

  private def wakeAllAt = wokenAt.plusMillis(math.max(MaxWait, waiting.size / WokenPerMilli))

  /** Runs the fetcher if it is ready and has room. */
  private def begin(reading: Reading, now: Moment): Option[FetchCommand] = {
    val fetcher = reading.fetcher
    leaveRest(reading)
    Try(fetcher.prepare(now, readings.size, isOldest(reading))) match {
      case Success(None) =>
        reading.isRunning = true
        Some(Run(fetcher))
      case Success(Some(step)) =>
        handle(fetcher, step, now, now)
        None
      case Failure(cause) =>
        stumble(fetcher, cause, now)
        None
    }
  }

  /**
   * A run has ended.
   *
   * @param begun when it began
   */
  def ran(
      fetcher: ShardFetcher,
      result: Try[ReadStep[FetchedPage]],
      begun: Moment,
      now: Moment
  ): Vector[FetchCommand] = {
    of(fetcher) match {
      case Some(reading) =>
        reading.isRunning = false
        result match {
          case Success(step) => handle(fetcher, step, begun, now)
          case Failure(cause) => stumble(fetcher, cause, now)
        }
        if (reading.hasNews) rest(fetcher, Duration.Zero, now)
        reading.hasNews = false
        sort(reading)
      case None => result.foreach(forget)
    }
    // Perhaps its page takes less room than was reserved for it.
    wakeNext(now)
    tick(now)
  }

  /** No plan would drop the page of a fetcher that was replaced during the run. */
  private def forget(step: ReadStep[FetchedPage]): Unit = step match {
    case ReadStep.Read(FetchedPage(report, _, _), _) if report.marks.nonEmpty =>
      store.dropAfter(report.shard, report.from)
    case _ =>
  }

  /** A subscription has sent something. */
  def news(fetcher: ShardFetcher, now: Moment): Vector[FetchCommand] = {
    of(fetcher).foreach { reading =>
      if (reading.isRunning) reading.hasNews = true else rest(fetcher, Duration.Zero, now)
    }
    tick(now)
  }

  private def of(fetcher: ShardFetcher): Option[Reading] =
    readings.get(fetcher.shard).filter(_.fetcher eq fetcher)

  private def handle(
      fetcher: ShardFetcher,
      step: ReadStep[FetchedPage],
      begun: Moment,
      now: Moment
  ): Unit =
    step match {
      case ReadStep.Read(FetchedPage(report, records, isUrgent), pause) =>
        heartbeats.add(report, records, isUrgent)
        val jittered = pause * (1 + JitterFraction * chance())
        rest(fetcher, jittered.toMicros.micros - (now.elapsed - begun.elapsed), now)
      case ReadStep.NoRoom | _: ReadStep.TooLarge =>
        if (waiting.isEmpty) wokenAt = now.steady
        waiting += fetcher.shard: Unit
      // A rest ends later than now, so that the shard is not asked again at once.
      case ReadStep.Paced(pause) => rest(fetcher, pause.max(LeastRest), now)
      case ReadStep.Awaits(limit) => rest(fetcher, limit.max(LeastRest), now)
      case ReadStep.Expired =>
        heartbeats.countExpired()
        rest(fetcher, Duration.Zero, now)
      case ReadStep.Retries(failure, delay) =>
        heartbeats.retry(failure)
        rest(fetcher, delay, now)
      case ReadStep.Doubts(delay) => rest(fetcher, delay, now)
      case ReadStep.Fails(cause) =>
        val failure = FetchFailure.of(cause, fetcher.shard, fetcher.generation)
        log.warn(failure.message, cause) // the driver receives only the message
        fail(fetcher, failure)
      case ReadStep.Loses(loss) =>
        fail(fetcher, failureOf(fetcher, loss.condition, loss.getMessage))
      case ReadStep.Ended => of(fetcher).foreach(_.isOver = true)
    }

  private def stumble(fetcher: ShardFetcher, cause: Throwable, now: Moment): Unit = cause match {
    case _: InterruptedException => // by a library
      log.warn(s"Reading ${fetcher.shard} was interrupted. It continues.")
      rest(fetcher, InterruptionPause, now)
    case _ => // any error, because the shard would stop silently
      log.error(s"Reading ${fetcher.shard} failed unexpectedly.", cause)
      val text = s"Reading ${fetcher.shard} failed: $cause"
      fail(fetcher, failureOf(fetcher, "KINESIS_INTERNAL_ERROR", text))
  }

  private def failureOf(fetcher: ShardFetcher, condition: String, text: String) =
    FetchFailure(condition, text, fetcher.shard, fetcher.generation)

  private def fail(fetcher: ShardFetcher, failure: FetchFailure): Unit = {
    fetcher.close()
    of(fetcher).foreach { it =>
      it.isOver = true
      sort(it)
    }
    heartbeats.fail(failure)
  }

  /** The fetcher runs after the delay, or earlier if that was asked for before. */
  private def rest(fetcher: ShardFetcher, delay: FiniteDuration, now: Moment): Unit =
    of(fetcher).filterNot(_.isOver).foreach { reading =>
      val until = now.steady.plusMillis(math.max(0L, delay.toMillis))
      if (reading.restsUntil.forall(until.isBefore)) {
        leaveRest(reading)
        waiting -= fetcher.shard
        reading.restsUntil = Some(until)
        resting += until -> fetcher.shard
      }
    }

  private def leaveRest(reading: Reading): Unit = {
    reading.restsUntil.foreach(until => resting -= until -> reading.fetcher.shard)
    reading.restsUntil = None
  }

  /**
   * A page has arrived, or pages were dropped. Two shards, or all that wait, ask for room again.
   */
  private def wakeNext(now: Moment): Unit = if (waiting.nonEmpty) {
    val behind = byAge.headOption.map(_._2) // the others wait for it
    wake(store.next(waiting.contains) ++ behind.filter(waiting.contains), now)
  }

  private def wake(shards: Vector[StreamShard], now: Moment): Unit =
    shards.flatMap(readings.get).foreach(it => rest(it.fetcher, Duration.Zero, now))

  /** Whether no other shard has been read less far, by the arrival times. */
  private def isOldest(reading: Reading) = byAge.headOption.contains(reading.age)

  /** After each page: thousands of shards are not compared for each. */
  private def sort(reading: Reading): Unit = if (settings.maxShardSkew.nonEmpty) {
    byAge -= reading.age
    reading.age = reading.fetcher.age
    if (!reading.fetcher.isEnded) byAge += reading.age: Unit
  }

  /** Counts a task that did not find its pages here. */
  def countReread(): Unit = heartbeats.countReread()

  /** No task needs the pages of the shard up to there any more. */
  def drop(
      shard: StreamShard,
      upTo: Progress,
      now: Moment
  ): Vector[FetchCommand] = {
    store.dropUpTo(shard, upTo)
    wakeNext(now)
    tick(now)
  }

  /** There may be a new plan: asks at once. */
  def hurry(now: Moment): Vector[FetchCommand] = {
    heartbeats.hurry()
    tick(now)
  }

  /**
   * A heartbeat has an answer.
   *
   * @param reply `None` if the driver did not answer in time
   */
  def replied(
      status: Heartbeat,
      reply: Option[HeartbeatReply],
      now: Moment
  ): Vector[FetchCommand] =
    if (!heartbeats.answered(status, reply, now)) Vector.empty
    else if (heartbeats.hasCrashed) finish()
    else {
      reply.flatMap(_.plan).foreach(apply(_, now))
      if (reply.exists(_.isStopped)) finish()
      else if (heartbeats.isDriverGone(now)) {
        log.warn(s"Stopped reading $names: the driver did not answer for ${Heartbeats.Patience}.")
        finish()
      } else tick(now)
    }

  /** Drops fetchers and pages that the plan does not contain. */
  private def apply(plan: FetchPlan, now: Moment): Unit = {
    val assigned = plan.assignments.map(_.shard).toSet
    readings.keySet.diff(assigned).toVector.foreach { shard =>
      remove(shard)
      store.forget(shard)
    }
    store.shards
      .filterNot(it => assigned(it) || plan.processed.contains(it))
      .foreach(store.drop)
    plan.processed.foreach { case (shard, progress) => store.dropUpTo(shard, progress) }
    val ofPlan = settings.copy(shards = plan.shards)
    plan.assignments.filterNot(it => isCurrent(it.shard, it.generation)).foreach { it =>
      // The new fetcher reads and reports again what an earlier assignment read after this
      // progress.
      store.dropAfter(it.shard, it.from)
      remove(it.shard)
      val fetcher = newFetcher(it, ofPlan)
      val reading = new Reading(fetcher)
      readings.update(it.shard, reading)
      sort(reading)
      rest(fetcher, Duration.Zero, now)
    }
    for (it <- plan.assignments if it.isClosed; reading <- readings.get(it.shard))
      if (reading.fetcher.shardClosed())
        if (reading.isRunning) reading.hasNews = true
        else rest(reading.fetcher, Duration.Zero, now)
    wake(waiting.toVector, now) // pages were dropped
  }

  private def isCurrent(shard: StreamShard, generation: Long): Boolean =
    readings.get(shard).exists(_.fetcher.generation == generation)

  private def remove(shard: StreamShard): Unit = readings.remove(shard).foreach { reading =>
    leaveRest(reading)
    byAge -= reading.age
    store.release(shard) // a run that has not begun does nothing any more
    waiting -= shard
    heartbeats.forget(shard)
    reading.fetcher.close()
  }

  /**
   * Something failed that must not fail. The driver fails the query with the reason. If it does not
   * receive it, it starts another service.
   */
  def crash(cause: Throwable): Vector[FetchCommand] =
    if (isOver) {
      log.warn(s"Ending the reads of $names failed.", cause)
      Vector.empty
    } else if (heartbeats.hasCrashed) {
      log.warn(s"The driver cannot learn why $names is not read: $cause")
      finish()
    } else {
      log.error(s"Stopped reading $names after an unexpected error.", cause)
      Vector(Beat(heartbeats.crash(s"Reading ahead of $names ended unexpectedly: $cause")))
    }

  /** The query has ended, or nothing is to be read here any more. */
  def finish(): Vector[FetchCommand] =
    if (isOver) Vector.empty
    else {
      isOver = true
      readings.keys.toVector.foreach(remove)
      Vector(Finish)
    }

  /** Whether nothing is read any more. */
  def hasFinished: Boolean = isOver

  override def toString: String =
    s"${readings.size} shards, ${waiting.size} of them wait for room in ${store.bytes} B"
}

/** What an executor does for its decisions. */
private[source] sealed trait FetchCommand

private[source] object FetchCommand {

  /** Runs the fetcher once. Answered by `ran`. */
  final case class Run(fetcher: ShardFetcher) extends FetchCommand

  /** Sends a heartbeat. Answered by `replied`. */
  final case class Beat(status: Heartbeat) extends FetchCommand

  /** Everything ends. */
  case object Finish extends FetchCommand
}

private object FetchLoop {
  private val InterruptionPause = 1.second
  private val LeastRest = 1.milli

  /**
   * The longest wait of a few shards for room in milliseconds. After it, another service may have
   * ended, or pages may go to disk.
   */
  private val MaxWait = 200L

  /** Thousands of shards that ask for room would take much of a core: they ask less often. */
  private val WokenPerMilli = 10L

  /** Spreads the calls to shards whose reading started at the same time. */
  private val JitterFraction = 0.1

  private final class Reading(val fetcher: ShardFetcher) {
    var age = fetcher.age // as of its last page
    var restsUntil: Option[Instant] = None
    var isRunning = false
    var hasNews = false // during the run
    var isOver = false // nothing more is read
  }
}
