package sparkkinesis.sink.simulation

import scala.util.Random

import sparkkinesis.model.{PutEntry, ShardMap}
import sparkkinesis.sink.SinkOptions
import sparkkinesis.sink.lane.{ExpiredRecord, Request, RequestLimits}
import sparkkinesis.sink.metrics.SinkMetrics
import sparkkinesis.sink.once.{OnceSender, ShardInDoubt}
import sparkkinesis.sink.rate.TargetStream
import sparkkinesis.sink.write.{StreamWriter, WriteCalls, WriteLoop}

/**
 * Runs the loop of `RecordWriter` without threads: its calls go over a wire, and an agenda keeps
 * the time. The owner puts rows while the loop allows it, and then flushes.
 *
 * @param rows are evaluated only when they are put, so they may depend on the time
 * @param pause returns the milliseconds that the owner rests after a row
 * @param ended is called once: with the failure, or when all records are acknowledged
 */
private[simulation] final class SimulatedWriter(
    agenda: Agenda,
    wire: Wire,
    limits: RequestLimits,
    options: SinkOptions,
    once: Option[OnceSender],
    random: Random,
    rows: Iterator[(TargetStream, PutEntry)],
    pause: () => Long,
    ended: Option[Throwable] => Unit
) {
  private val limited =
    options.copy(maxRequestRecords = limits.records, maxRequestBytes = limits.bytes)
  private val loop = new WriteLoop(limited, once, () => random.nextDouble(), Calls)
  private val input = rows.buffered
  private var isEnded = false
  private var isPausing = false
  private var isUrgent = false

  def isRunning: Boolean = !isEnded

  def metrics: SinkMetrics = loop.metrics(agenda.now)

  def bufferedBytes: Long = loop.bufferedBytes

  def bufferedRecords: Long = loop.bufferedRecords

  def takeExpired(): Vector[ExpiredRecord] = loop.takeExpired()

  /** Ends the task. Requests that were sent may still take effect. */
  def kill(): Unit = {
    isEnded = true
    loop.close()
  }

  /** The owner goes on until it must wait. */
  def run(): Unit = while (!isEnded && !isPausing && step()) {}

  /** @return whether the owner may go on at once */
  private def step(): Boolean =
    if (!loop.mayContinue) false
    else if (input.hasNext)
      if (loop.hasRoom(input.head._2)) put() else becomeUrgent()
    else if (loop.bufferedRecords > 0) becomeUrgent()
    else {
      end(None)
      false
    }

  private def put(): Boolean = {
    if (isUrgent) loop.endUrgency()
    isUrgent = false
    val (stream, entry) = input.next()
    loop.put(stream, entry, agenda.now)
    val millis = if (isEnded) 0 else pause()
    if (millis > 0) rest(millis)
    true
  }

  private def rest(millis: Long): Unit = {
    isPausing = true
    agenda.after(millis) {
      isPausing = false
      run()
    }
  }

  private def becomeUrgent(): Boolean = {
    val isChange = !isUrgent
    isUrgent = true
    if (isChange) loop.startUrgency(agenda.now)
    isChange
  }

  private object Calls extends WriteCalls {
    override def send(stream: StreamWriter, request: Request): Unit =
      wire.put(stream.stream, request) { answer =>
        loop.answered(stream, request, answer, agenda.now)
        run()
      }

    override def list(stream: StreamWriter, known: ShardMap): Unit =
      wire.list(stream.stream, known) { answer =>
        loop.listed(stream, answer, agenda.now)
        run()
      }

    override def recover(
        stream: StreamWriter,
        shards: Seq[ShardInDoubt],
        askedAt: Long
    ): Unit =
      wire.recover(shards) { found =>
        loop.recovered(stream, askedAt, Right(found), agenda.now)
        run()
      }

    override def wakeEarlier(): Unit = {
      val time = loop.tickAt
      agenda.at(math.max(time, agenda.now)) {
        if (!isEnded && loop.tickAt == time) {
          loop.tick(agenda.now)
          run()
        }
      }
    }

    override def failed(e: Throwable): Unit = e match {
      case law: IllegalArgumentException => throw law // a broken law is no failure of the writer
      case _ =>
        agenda.after(0)(loop.close())
        end(Some(e))
    }
  }

  private def end(failure: Option[Throwable]): Unit = {
    isEnded = true
    ended(failure)
  }
}
