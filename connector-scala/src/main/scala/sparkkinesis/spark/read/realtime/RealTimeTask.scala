package sparkkinesis.spark.read.realtime

import java.time.Instant

import scala.annotation.tailrec

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow

import sparkkinesis.client.{Clock, SystemClock}
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{ChildShard, PackedRecords, SequenceNumber}
import sparkkinesis.shard.ShardRange
import sparkkinesis.source.protocol.FetchReport
import sparkkinesis.source.realtime._
import sparkkinesis.source.store.StoredPart
import sparkkinesis.spark.errors.ConnectorError
import sparkkinesis.spark.metrics.TaskDelays
import sparkkinesis.spark.read.task.{QueryRun, RecordRow}

/**
 * Hands out the records of its shards when they arrive, in a task that runs as long as its batch.
 * In order per shard. Used by the task's thread.
 *
 * @param isInTime whether the task began before its batch had ended
 * @param delays counts each record
 */
private[sparkkinesis] final class RealTimeTask private (
    pages: RealTimePages,
    identity: RealTimeShards.Task,
    starts: Seq[RealTimeStart],
    deaggregate: Boolean,
    isInTime: Boolean,
    attempt: RealTimeAttempt,
    clock: Clock,
    delays: Option[TaskDelays]
) {
  import RealTimeTask._
  import pages.shards

  private val row = new RecordRow(deaggregate, delays = delays)
  private val read = starts.map(it => it.shard -> new Read(it)).toMap
  private var open = Option.empty[Open]
  private var hasRun = false
  private var isClosed = false

  /**
   * Moves to the next row.
   *
   * @param timeoutMillis how long to wait for it
   * @return `false` after that time, or if the driver has ended the batch
   */
  def next(timeoutMillis: Long): Boolean = {
    hasRun = true
    row.next() || ConnectorError.translating {
      nextPage(clock.elapsedMillis + timeoutMillis)
    }
  }

  def get(): InternalRow = row

  /** When the record of the row arrived, in milliseconds since 1970 UTC. */
  def arrivalMillis: Long = row.arrivalMillis

  /** Where the rows so far end. */
  def end: TaskEnd =
    TaskEnd(starts.map(it => endpoint(read(it.shard))), hasRun && isInTime, attempt.isRetry)

  /** The shards are read on for the task of the next batch. */
  def close(): Unit =
    if (!isClosed) {
      isClosed = true
      shards.release(identity, read.map { case (shard, it) => shard -> positionOf(it) })
    }

  @tailrec private def nextPage(deadline: Long): Boolean = {
    endPart()
    if (beginPart()) row.next() || nextPage(deadline)
    else if (shards.isEnded(identity.batch)) false
    else
      nextReport(deadline) match {
        case None => false
        case Some(report) =>
          begin(report)
          nextPage(deadline)
      }
  }

  /** Waits in short steps, because Spark may end a task without an interrupt. */
  @tailrec private def nextReport(deadline: Long): Option[FetchReport] = {
    val step = math.min(deadline, clock.elapsedMillis + CancelPeriodMillis)
    if (attempt.isCancelled())
      throw new InterruptedException("The task was cancelled.")
    val found = shards.next(identity, step)
    if (found.nonEmpty || step == deadline || shards.isEnded(identity.batch)) found
    else nextReport(deadline)
  }

  private def begin(report: FetchReport): Unit = {
    val it = read(report.shard)
    val first = report.first.filter(_ => Progress.isStart(it.position))
    val range = ShardRange(report.shard, it.position, report.marks.last.upTo, first = first)
    pages.store.parts(range) match {
      case Some(parts) => open = Some(new Open(report, parts.iterator))
      case None => restart(it)
    }
  }

  /** The store has lost the pages, for example because the shard was assigned a second time. */
  private def restart(it: Read): Unit = {
    open = None
    pages.countReread()
    val start = RealTimeStart(it.start.shard, it.position, it.completeAsOf, it.partial)
    shards.restart(identity, start)
    pages.hurry()
  }

  /** @return whether there is a part */
  private def beginPart(): Boolean = open.exists { page =>
    val it = read(page.report.shard)
    if (page.parts.hasNext) {
      val part = page.parts.next()
      part.records match {
        case Some(records) =>
          page.part = Some(part -> records)
          row.read(it.start.shard, records)
          skip(it, records)
        case None => restart(it)
      }
      open.nonEmpty
    } else {
      open = None
      if (it.position == Progress.Finished) shards.finished(identity, it.start.shard, it.children)
      false
    }
  }

  /** The batch before has read some rows of the first record. */
  private def skip(it: Read, records: PackedRecords): Unit =
    if (records.nonEmpty) {
      val rows = it.partial.filter(_.number == records.sequenceNumber(0)).fold(0)(_.rows)
      (1 to rows).foreach(_ => row.next())
      it.partial = None
    }

  /** Ends the part, all rows of which were read. */
  private def endPart(): Unit =
    for (page <- open; (part, records) <- page.part) {
      page.part = None
      val it = read(page.report.shard)
      it.first = it.first.orElse(page.report.first)
      it.position = part.range.upTo
      it.lastArrivalMillis = records.lastArrivalMillis.getOrElse(it.lastArrivalMillis)
      if (it.position == Progress.Finished) it.children = page.report.children
      pages.drop(it.start.shard, it.position)
    }

  /** The position in the middle of a part: after the last record of which all rows were read. */
  private def positionOf(it: Read): Progress = recordsOf(it) match {
    case Some(records) if row.lastWhole >= 0 =>
      Progress.After(records.sequenceNumber(row.lastWhole))
    case _ => it.position
  }

  /** The records of the part that is read now. */
  private def recordsOf(it: Read): Option[PackedRecords] =
    open.filter(_.report.shard == it.start.shard).flatMap(_.part).map(_._2)

  private def endpoint(it: Read): ReadUpTo = {
    val records = recordsOf(it)
    val state = shards.state(it.start.shard)
    val isAllRead = records.isEmpty && state.exists(_._2)
    val lastWhole = records.filter(_ => row.lastWhole >= 0)
    val lastArrival = lastWhole.fold(it.lastArrivalMillis)(_.arrivalMillis(row.lastWhole))
    val inRecord = records.filter(_ => row.partialRows > 0).map { found =>
      PartialRecord(found.sequenceNumber(row.lastWhole + 1), row.partialRows)
    }
    ReadUpTo(
      it.start.shard,
      positionOf(it),
      if (records.isEmpty) it.partial else inRecord,
      it.children,
      state.fold(0L)(_._1.millisBehind),
      if (isAllRead) state.fold(0L)(_._1.completeAsOfMillis) else lastArrival,
      it.first.orElse(lastWhole.flatMap(_ => open.flatMap(_.report.first)))
    )
  }
}

private[sparkkinesis] object RealTimeTask {
  private val CancelPeriodMillis = 200L

  private[realtime] def begin(
      run: QueryRun,
      partition: RealTimePartition,
      delays: Option[TaskDelays]
  ): RealTimeTask = {
    val context = Option(TaskContext.get())
    val attempt = context.fold(RealTimeAttempt(0, isRetry = false, () => false)) { it =>
      RealTimeAttempt(it.taskAttemptId(), it.attemptNumber() > 0, () => it.isInterrupted())
    }
    val task =
      begin(
        () => RealTimeReads.ensure(run),
        partition,
        attempt,
        run.options.deaggregate,
        SystemClock,
        delays
      )
    // Spark does not close the reader of a real-time task.
    context.foreach(_.addTaskCompletionListener[Unit](_ => task.close()))
    task
  }

  /** @param ensure finds the pages of this executor; called again if they have closed */
  @tailrec private[sparkkinesis] def begin(
      ensure: () => RealTimePages,
      partition: RealTimePartition,
      attempt: RealTimeAttempt,
      deaggregate: Boolean,
      clock: Clock,
      delays: Option[TaskDelays]
  ): RealTimeTask = {
    val pages = ensure()
    val identity = new RealTimeShards.Task(partition.batch, attempt.id)
    val isInTime = !pages.shards.isEnded(partition.batch)
    if (pages.shards.begin(identity, partition.starts)) {
      // Spark may have ended the batch before after the last row of a page. Such a page would
      // occupy memory that other shards wait for, until its own shard has a new one.
      partition.starts.foreach(start => pages.drop(start.shard, start.from))
      pages.hurry()
      new RealTimeTask(
        pages,
        identity,
        partition.starts,
        deaggregate,
        isInTime,
        attempt,
        clock,
        delays
      )
    } else begin(ensure, partition, attempt, deaggregate, clock, delays)
  }

  /** What a task has read of a shard. */
  private final class Read(val start: RealTimeStart) {
    var position: Progress = start.from
    var partial: Option[PartialRecord] = start.partial // of the record after the position
    var children: Seq[ChildShard] = Nil
    var first: Option[SequenceNumber] = None
    var lastArrivalMillis = 0L

    def completeAsOf: Option[Instant] =
      if (lastArrivalMillis > 0) Some(Instant.ofEpochMilli(lastArrivalMillis))
      else start.completeAsOf
  }

  /** The page from which the task takes rows. */
  private final class Open(val report: FetchReport, val parts: Iterator[StoredPart]) {
    var part: Option[(StoredPart, PackedRecords)] = None
  }
}
