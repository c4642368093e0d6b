package sparkkinesis.source.fetch

import java.time.Instant

import scala.collection.mutable
import scala.concurrent.duration._

import sparkkinesis.client.{KinesisException, Moment}
import sparkkinesis.compat._
import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.Progress
import sparkkinesis.shard.feed.FeedCounts
import sparkkinesis.source.protocol._
import sparkkinesis.source.store.PageStore

/**
 * What an executor tells the driver, and when. At most one heartbeat is without an answer. What it
 * told is sent again if there is none.
 *
 * @param id of the service: see [[Heartbeat.service]]
 * @param counts of all feeds of the executor
 */
private[source] final class Heartbeats(
    executor: String,
    host: String,
    id: String,
    store: PageStore,
    counts: FeedCounts
) {
  import Heartbeats._

  private val reports = mutable.LinkedHashMap.empty[Place, FetchReport] // in order
  private var totals = FetchCounters.Zero
  private var failures = Map.empty[StreamShard, FetchFailure]
  private var crashed = Option.empty[String]
  private var isUrgent = true // whether to report at once instead of with the next heartbeat
  private var sending = Option.empty[Heartbeat] // without an answer yet
  private var sentAt = Option.empty[Instant]
  private var answeredAt = Option.empty[Instant]
  private var isUnanswered = false // whether the last heartbeat had no answer
  private var version = 0L // of the last plan

  /**
   * A report of an empty page replaces the one before it, so that the driver may be silent for
   * long.
   *
   * @param records number of records that the report is about
   */
  def add(report: FetchReport, records: Int, isUrgent: Boolean): Unit = {
    keep(report)
    totals = totals.copy(
      records = totals.records + records,
      bytes = totals.bytes + report.marks.map(_.bytes).sum,
      lostRanges = totals.lostRanges + report.lost,
      early = totals.early + report.early
    )
    this.isUrgent ||= isUrgent
  }

  private def keep(report: FetchReport): Unit = {
    val place = Place(report.shard, report.generation, report.from, report.marks.isEmpty)
    val before = reports.get(place)
    reports.update(place, before.fold(report)(joined(_, report)))
  }

  private def joined(before: FetchReport, report: FetchReport): FetchReport = report.copy(
    completeAsOfMillis = math.max(before.completeAsOfMillis, report.completeAsOfMillis),
    lost = before.lost + report.lost
  )

  /** The reports were not received. Later ones follow them. */
  private def takeBack(unheard: Vector[FetchReport]): Unit = {
    val later = reports.values.toVector
    reports.clear()
    (unheard ++ later).foreach(keep)
  }

  /** A task did not find its pages here. */
  def countReread(): Unit = totals = totals.copy(rereadRanges = totals.rereadRanges + 1)

  def countExpired(): Unit = totals = totals.copy(iteratorsExpired = totals.iteratorsExpired + 1)

  /** A call failed and is tried again. */
  def retry(failure: KinesisException): Unit = totals = failure match {
    case _: KinesisException.Throttled => totals.copy(throttled = totals.throttled + 1)
    case _ => totals.copy(retried = totals.retried + 1)
  }

  /** Retries do not help. */
  def fail(failure: FetchFailure): Unit = {
    failures += failure.shard -> failure
    isUrgent = true
  }

  /** The shard is not read here any more, or read again from another place. */
  def forget(shard: StreamShard): Unit = failures -= shard

  /** When the next heartbeat is due; `None` before the last one has an answer. */
  def nextAt(isWaiting: Boolean): Option[Instant] =
    Option.when(sending.isEmpty)(sentAt.fold(LongAgo)(_.plusMillis(period(isWaiting).toMillis)))

  /** Pages of many shards arrive at about the same time, so they share a heartbeat. */
  private def period(isWaiting: Boolean) =
    if (isUnanswered) Period
    else if (isUrgent) UrgentPeriod
    // A shard that waits for room wants to know soon that a batch is done.
    else if (isWaiting) RoomPeriod
    else Period

  /**
   * The heartbeat that is due.
   *
   * @param isWaiting whether a shard waits for room
   */
  def due(now: Moment, isWaiting: Boolean): Option[Heartbeat] = {
    if (answeredAt.isEmpty) answeredAt = Some(now.steady)
    Option.when(nextAt(isWaiting).exists(!now.steady.isBefore(_))) {
      sentAt = Some(now.steady)
      send()
    }
  }

  /** The next heartbeat is due at once. */
  def hurry(): Unit = sentAt = None

  /** The service ends, although the query goes on: the heartbeat that tells it. */
  def crash(reason: String): Heartbeat = {
    crashed = Some(reason)
    sending.foreach(it => takeBack(it.reports))
    send()
  }

  def hasCrashed: Boolean = crashed.nonEmpty

  private def send(): Heartbeat = {
    val status = Heartbeat(
      executor,
      host,
      takeReports(),
      counters,
      failures.values.headOption,
      version,
      crashed,
      id
    )
    sending = Some(status)
    status
  }

  /** The oldest reports, in order: not all, if there are very many. */
  private def takeReports(): Vector[FetchReport] = {
    val taken = reports.take(MostReports).toVector
    reports --= taken.map(_._1)
    isUrgent = reports.nonEmpty
    taken.map(_._2)
  }

  private def counters: FetchCounters = {
    val times = counts.times
    totals.copy(
      bufferedBytes = store.bytes,
      spilledBytes = store.spilledBytes,
      fullStores = if (store.isFull) 1 else 0,
      memoryBytes = store.memoryBytes,
      subscriptions = counts.subscriptions,
      renewals = counts.renewals,
      subscriptionsInUse = counts.refusals,
      pushedBytes = counts.pushedBytes,
      requests = times.counts.valuesIterator.sum,
      times = times,
      fallbacks = counts.fallbacks
    )
  }

  /**
   * A heartbeat has an answer, or none came in time.
   *
   * @return `false` if another heartbeat was sent since then
   */
  def answered(status: Heartbeat, reply: Option[HeartbeatReply], now: Moment): Boolean = {
    val isLast = sending.exists(_ eq status)
    if (isLast) {
      sending = None
      isUnanswered = reply.isEmpty
      reply match {
        case Some(it) =>
          answeredAt = Some(now.steady)
          version = it.version
        case None =>
          takeBack(status.reports)
          sentAt = Some(now.steady)
      }
    }
    isLast
  }

  /** Whether the driver has not answered for long. */
  def isDriverGone(now: Moment): Boolean =
    isUnanswered && answeredAt.exists(it => now.steady.isAfter(it.plusMillis(Patience.toMillis)))
}

private[fetch] object Heartbeats {
  private val LongAgo = Instant.ofEpochMilli(Long.MinValue / 2)
  private val Period = 200.millis
  private val RoomPeriod = 50.millis
  private val UrgentPeriod = 20.millis

  /** Longer than a pause of the driver for garbage collection. */
  val Patience: FiniteDuration = 60.seconds

  /**
   * Most page reports in one heartbeat. After a pause the driver receives the heartbeats of all
   * executors at once, and reading each takes it some milliseconds.
   */
  private val MostReports = 2000

  /** Where a page begins. */
  private final case class Place(
      shard: StreamShard,
      generation: Long,
      from: Progress,
      isEmpty: Boolean
  )
}
