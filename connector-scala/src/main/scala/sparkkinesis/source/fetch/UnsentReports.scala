package sparkkinesis.source.fetch

import scala.collection.mutable

import sparkkinesis.client.KinesisException
import sparkkinesis.compat._
import sparkkinesis.model.StreamShard
import sparkkinesis.source.protocol.{FetchCounters, FetchFailure, FetchReport}

/** What an executor has to report to the driver. */
private[source] final class UnsentReports {
  private val reports = mutable.Queue.empty[FetchReport]
  private var totals = FetchCounters.Zero
  private var failureOf = Map.empty[StreamShard, FetchFailure]
  private var crashed = Option.empty[String]
  private var urgent = true

  /** Whether to report at once instead of with the next heartbeat. */
  def isUrgent: Boolean = urgent

  def counters: FetchCounters = totals

  /** The latest failure of each shard. */
  def failures: Iterable[FetchFailure] = failureOf.values

  /** @param records number of records that the report is about */
  def add(report: FetchReport, records: Int, isUrgent: Boolean): Unit = {
    reports.enqueue(report)
    totals = totals.copy(
      records = totals.records + records,
      bytes = totals.bytes + report.marks.map(_.bytes).sum,
      lostRanges = totals.lostRanges + report.lost
    )
    urgent ||= isUrgent
  }

  def count(change: FetchCounters => FetchCounters): Unit = totals = change(totals)

  /** A call failed and is tried again. */
  def retry(failure: KinesisException): Unit = totals = failure match {
    case _: KinesisException.Throttled => totals.copy(throttled = totals.throttled + 1)
    case _ => totals.copy(retried = totals.retried + 1)
  }

  def fail(failure: FetchFailure): Unit = {
    failureOf = failureOf.updated(failure.shard, failure)
    urgent = true
  }

  /** Why the service ends, although the query goes on. */
  def crash: Option[String] = crashed

  def crash(reason: String): Unit = crashed = Some(reason)

  /** Removes and returns the oldest reports, in order: not all, if there are very many. */
  def take(): Vector[FetchReport] = {
    val taken = Vector.fill(math.min(reports.size, UnsentReports.MostReports))(reports.dequeue())
    urgent = reports.nonEmpty
    taken
  }

  /** Returns reports that the driver did not receive. The next `take` returns them first. */
  def giveBack(unsent: Vector[FetchReport]): Unit = reports.prependAll(unsent)
}

private object UnsentReports {

  /**
   * Most page reports in one heartbeat. After a pause the driver receives the heartbeats of all
   * executors at once, and reading each takes it some milliseconds.
   */
  private val MostReports = 2000
}
