package sparkkinesis.spark.read.realtime

import java.time.Instant

import scala.annotation.tailrec

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow

import sparkkinesis.client.SystemClock
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{ChildShard, PackedRecords, SequenceNumber}
import sparkkinesis.source.protocol.{FetchReport, ShardRange}
import sparkkinesis.source.realtime.{LiveShards, PartialRecord, ShardEndpoint, ShardStart}
import sparkkinesis.source.store.StoredPart
import sparkkinesis.spark.errors.ConnectorError
import sparkkinesis.spark.read.task.{FetchRun, RecordRow}

/**
 * Hands out the records of its shards when they arrive, in a task that runs as long as its batch. In order
 * per shard. Used by the task's thread.
 *
 * @param isInTime whether the task began before its batch had ended
 * @param isRetry whether an earlier attempt of the task has failed
 */
final class RealTimeTask private (
    reads: LiveReads,
    identity: LiveShards.Task,
    starts: Seq[ShardStart],
    deaggregate: Boolean,
    isInTime: Boolean,
    isRetry: Boolean
) {
  import RealTimeTask._
  import reads.shards

  private val row = new RecordRow(deaggregate)
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
      nextPage(SystemClock.elapsedMillis + timeoutMillis)
    }
  }

  def get(): InternalRow = row

  /** When the record of the row arrived, in milliseconds since 1970 UTC. */
  def arrivalMillis: Long = row.arrivalMillis

  /** Where the rows so far end. */
  def end: RealTimeEnd =
    RealTimeEnd(starts.map(it => endpoint(read(it.shard))), hasRun && isInTime, isRetry)

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
    val step = math.min(deadline, SystemClock.elapsedMillis + CancelPeriodMillis)
    val context = TaskContext.get()
    if (context != null && context.isInterrupted())
      throw new InterruptedException("The task was cancelled.")
    val found = shards.next(identity, step)
    if (found.nonEmpty || step == deadline || shards.isEnded(identity.batch)) found
    else nextReport(deadline)
  }

  private def begin(report: FetchReport): Unit = {
    val it = read(report.shard)
    val first = report.first.filter(_ => Progress.isStart(it.position))
    val range = ShardRange(report.shard, it.position, report.marks.last.upTo, first = first)
    reads.service.store.parts(range) match {
      case Some(parts) => open = Some(new Open(report, parts.iterator))
      case None => restart(it)
    }
  }

  /** The store has lost the pages, for example because the shard was assigned a second time. */
  private def restart(it: Read): Unit = {
    open = None
    reads.service.countReread()
    val start = ShardStart(it.start.shard, it.position, it.completeAsOf, it.partial)
    shards.restart(identity, start)
    reads.service.hurry()
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

  /** All rows of the part were read. */
  private def endPart(): Unit =
    for (page <- open; (part, records) <- page.part) {
      page.part = None
      val it = read(page.report.shard)
      it.first = it.first.orElse(page.report.first)
      it.position = part.range.upTo
      it.lastArrivalMillis = records.lastArrivalMillis.getOrElse(it.lastArrivalMillis)
      if (it.position == Progress.Finished) it.children = page.report.children
      reads.service.drop(it.start.shard, it.position)
    }

  /** In the middle of a part: after the last record of which all rows were read. */
  private def positionOf(it: Read): Progress = recordsOf(it) match {
    case Some(records) if row.lastWhole >= 0 =>
      Progress.After(records.sequenceNumber(row.lastWhole))
    case _ => it.position
  }

  /** Of the part that is read now. */
  private def recordsOf(it: Read): Option[PackedRecords] =
    open.filter(_.report.shard == it.start.shard).flatMap(_.part).map(_._2)

  private def endpoint(it: Read): ShardEndpoint = {
    val records = recordsOf(it)
    val state = shards.state(it.start.shard)
    val isAllRead = records.isEmpty && state.exists(_._2)
    val lastWhole = records.filter(_ => row.lastWhole >= 0)
    val lastArrival = lastWhole.fold(it.lastArrivalMillis)(_.arrivalMillis(row.lastWhole))
    val inRecord = records.filter(_ => row.partialRows > 0).map { found =>
      PartialRecord(found.sequenceNumber(row.lastWhole + 1), row.partialRows)
    }
    ShardEndpoint(
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

object RealTimeTask {
  private val CancelPeriodMillis = 200L

  /** Spark does not close the reader of a real-time task, so the end of the task does. */
  @tailrec private[realtime] def begin(
      run: FetchRun,
      partition: RealTimePartition
  ): RealTimeTask = {
    val reads = LiveReads.ensure(run)
    val context = Option(TaskContext.get())
    val attempt = context.fold(0L)(_.taskAttemptId())
    val identity = new LiveShards.Task(partition.batch, attempt)
    val isInTime = !reads.shards.isEnded(partition.batch)
    val task = new RealTimeTask(
      reads,
      identity,
      partition.starts,
      run.options.deaggregate,
      isInTime,
      isRetry = context.exists(_.attemptNumber() > 0)
    )
    context.foreach(_.addTaskCompletionListener[Unit](_ => task.close()))
    if (reads.shards.begin(identity, partition.starts)) {
      reads.service.hurry()
      task
    } else begin(run, partition)
  }

  /** What a task has read of a shard. */
  private final class Read(val start: ShardStart) {
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
