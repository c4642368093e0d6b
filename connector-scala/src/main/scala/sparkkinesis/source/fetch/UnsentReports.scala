package sparkkinesis.source.fetch

import scala.collection.mutable

import sparkkinesis.model.StreamShard
import sparkkinesis.source.protocol.{FetchCounters, FetchFailure, FetchReport}

/** What an executor has not told the driver yet. Used under its owner's lock. */
private[source] final class UnsentReports {
  private val reports = mutable.Queue.empty[FetchReport]
  private var sums = FetchCounters.Zero
  private var failed = Map.empty[StreamShard, FetchFailure]
  private var urgent = true

  /** Not to wait for the next heartbeat's time. */
  def isUrgent: Boolean = urgent

  def counters: FetchCounters = sums

  /** The latest of each shard. */
  def failures: Iterable[FetchFailure] = failed.values

  def report(report: FetchReport, records: Int, isNews: Boolean): Unit = {
    reports.enqueue(report)
    sums = sums.copy(
      records = sums.records + records,
      bytes = sums.bytes + report.marks.map(_.bytes).sum,
      lostRanges = sums.lostRanges + report.lost
    )
    urgent ||= isNews
  }

  def count(change: FetchCounters => FetchCounters): Unit = sums = change(sums)

  def fail(failure: FetchFailure): Unit = {
    failed = failed.updated(failure.shard, failure)
    urgent = true
  }

  /** All reports, in order. */
  def take(): Vector[FetchReport] = {
    urgent = false
    val all = reports.toVector
    reports.clear()
    all
  }

  /** They could not be told: they come first the next time. */
  def giveBack(unsent: Vector[FetchReport]): Unit = reports.prependAll(unsent)
}
