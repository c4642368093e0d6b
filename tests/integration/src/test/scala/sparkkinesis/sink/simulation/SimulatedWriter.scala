package sparkkinesis.sink.simulation

import scala.collection.mutable
import scala.util.Random
import scala.util.control.NonFatal

import sparkkinesis.model.{KeyHash, PutEntry}
import sparkkinesis.sink.lane.Lanes.Next
import sparkkinesis.sink.lane.{EntrySize, Lane, Lanes, Request, RequestLimits}
import sparkkinesis.sink.rate.TargetStream
import sparkkinesis.sink.{ShardSleep, SinkCounters, SinkOptions}

/**
 * What `RecordWriter` does with its threads, as events of an agenda: rows are put as long as there
 * is room, and at last flushed.
 *
 * @param rows asked only when they are put, so that they may depend on the time
 * @param pause of the task before the next row, in milliseconds
 * @param ended called once: with what failed, or when all is acknowledged
 */
private[simulation] final class SimulatedWriter(
    agenda: Agenda,
    wire: Wire,
    limits: RequestLimits,
    options: SinkOptions,
    random: Random,
    rows: Iterator[(TargetStream, PutEntry)],
    pause: () => Long,
    ended: Option[Throwable] => Unit
) {
  val counters = new SinkCounters
  private val hash = new KeyHash
  private val input = rows.buffered
  private val streams = mutable.LinkedHashMap.empty[TargetStream, Lanes]
  private val listing = mutable.Set.empty[Lanes]
  private var turn = 0
  private var isAlive = true
  private var isPausing = false
  private var isPressed = false
  private var isTicking = false
  private var wakeAt = Lane.Never

  def isRunning: Boolean = isAlive

  /** Of the shard that records waited for longest. */
  def sleep: Option[ShardSleep] = streams.values.flatMap(_.sleep(agenda.now)).maxByOption(_.millis)

  /** It hears nothing any more; what it has sent is on its way. */
  def kill(): Unit = isAlive = false

  /** The task goes on as far as it can. */
  def proceed(): Unit =
    while (isAlive && !isPausing && input.hasNext && hasRoom) {
      isPressed = false
      put()
      val millis = pause()
      if (millis > 0) rest(millis)
    }

  /** Where it cannot, it waits: for room, or for the last answers. */
  def run(): Unit = {
    proceed()
    if (isAlive && !isPausing) {
      if (!isPressed) {
        isPressed = true
        look()
      }
      if (isAlive && !input.hasNext && counters.waiting == 0) end(None)
    }
  }

  private def rest(millis: Long): Unit = {
    isPausing = true
    agenda.after(millis) {
      isPausing = false
      run()
    }
  }

  private def hasRoom: Boolean =
    counters.buffered == 0 ||
      counters.buffered + EntrySize.of(input.head._2) <= options.maxBufferedBytes

  private def put(): Unit = failing {
    val (stream, entry) = input.next()
    hash.hash(entry)
    val lanes = streams.getOrElseUpdate(stream, lanesOf(stream))
    lanes.add(entry, hash.hi, hash.lo, agenda.now)
    if (!isTicking) startTicking()
    if (lanes.isWorthALook) look()
  }

  private def lanesOf(stream: TargetStream) =
    new Lanes(stream, limits, options, () => random.nextDouble(), counters, agenda.now)

  private def look(): Unit = if (isAlive) failing {
    val all = streams.values.toVector
    all.foreach(lookForShards)
    var (nothing, wake) = (0, Lane.Never)
    while (nothing < all.size && counters.inFlight < options.maxInFlightRequests) {
      val lanes = all(turn % all.size)
      turn += 1
      lanes.next(agenda.now, isPressed) match {
        case Next.Send(request) =>
          send(lanes, request)
          nothing = 0
        case Next.Wait(until) =>
          wake = math.min(wake, until)
          nothing += 1
      }
    }
    if (wake < wakeAt) wakeBy(wake)
  }

  private def send(lanes: Lanes, request: Request): Unit = wire.put(lanes.stream, request) { told =>
    if (isAlive) {
      failing(told match {
        case Right(results) => lanes.answered(request, results, agenda.now)
        case Left(e) => lanes.failed(request, e, agenda.now)
      })
      look()
      run()
    }
  }

  private def lookForShards(lanes: Lanes): Unit =
    if (lanes.wantsShards(agenda.now) && listing.add(lanes))
      wire.list(lanes.stream, lanes.shards) { told =>
        listing -= lanes
        told match {
          case Right(shards) => lanes.learn(shards, agenda.now)
          case Left(_) => lanes.learnedNothing(agenda.now)
        }
        look()
        run()
      }

  private def startTicking(): Unit = {
    isTicking = true
    wakeBy(agenda.now + options.linger.toMillis)
  }

  private def wakeBy(time: Long): Unit = {
    wakeAt = time
    agenda.at(math.max(time, agenda.now))(if (isAlive && wakeAt == time) tick())
  }

  private def tick(): Unit = {
    wakeAt = Lane.Never
    look()
    run()
    val latest = agenda.now + options.linger.toMillis
    if (isAlive && latest < wakeAt) wakeBy(latest)
  }

  private def failing(body: => Unit): Unit =
    try body
    catch {
      case law: IllegalArgumentException => throw law // a law is broken: nobody's to catch
      case NonFatal(e) => end(Some(e))
    }

  private def end(failure: Option[Throwable]): Unit = {
    isAlive = false
    ended(failure)
  }
}
