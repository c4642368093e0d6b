package sparkkinesis.sink.write

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{SynchronousQueue, ThreadPoolExecutor, TimeUnit}

import scala.collection.mutable
import scala.concurrent.duration._
import scala.util.Random

import sparkkinesis.client.{Clock, KinesisException}
import sparkkinesis.model.{KeyHash, PutEntry, ShardMap}
import sparkkinesis.sink.lane.Lanes.Next
import sparkkinesis.sink.lane.{EntrySize, Lane, Lanes, Request, RequestLimits}
import sparkkinesis.sink.rate.TargetStream
import sparkkinesis.sink.{ShardSleep, SinkCounters, SinkMetrics, SinkOptions}

/**
 * Writes records to streams, many requests at once, in bounded memory, at least once each. Owned by
 * one thread, which calls all its methods.
 *
 * The first failure of any request fails the writer: the following call of `put` or `flush`
 * throws it.
 *
 * @param limits of one request
 * @param isCancelled asked at every record, and every 200 ms while the owner waits: once it is true
 *   `put` and `flush` throw `InterruptedException`, as they do when the owner is interrupted
 */
final class RecordWriter(
    limits: RequestLimits,
    options: SinkOptions,
    clock: Clock,
    random: Random,
    isCancelled: () => Boolean
) extends AutoCloseable {
  import RecordWriter._

  private val hash = new KeyHash
  private val threads = newThreads()
  private var isClosed = false

  // Guarded by this writer's lock.
  private val counters = new SinkCounters
  private val streams = mutable.LinkedHashMap.empty[TargetStream, Lanes]
  private val listing = mutable.Set.empty[Lanes]
  private var turn = 0
  private var isPressed = false
  private var isTicking = false
  private var wakeAt = Lane.Never
  private var failure = Option.empty[Throwable]

  /**
   * Takes a record; returns when there is room for it.
   *
   * @throws DeliveryTimeoutException or `KinesisException` where a record could not be written
   */
  def put(stream: TargetStream, entry: PutEntry): Unit = {
    hash.hash(entry)
    synchronized {
      if (!stream.isListed) awaitShards(stream)
      awaitRoom(EntrySize.of(entry))
      val lanes = streams.getOrElseUpdate(stream, lanesOf(stream))
      lanes.add(entry, hash.hi, hash.lo, now)
      if (!isTicking) startTicking()
      if (lanes.isWorthALook) {
        look()
        awaitTurn(lanes)
      }
    }
  }

  /**
   * Returns when every record is acknowledged.
   *
   * @throws DeliveryTimeoutException or `KinesisException` where one could not be written
   */
  def flush(): Unit = synchronized {
    requireOngoing()
    pressing {
      while (counters.waiting > 0) awaitNews()
    }
  }

  /** Not yet acknowledged, in bytes. */
  def buffered: Long = synchronized(counters.buffered)

  /** So far; still growing while requests are in flight. */
  def metrics: SinkMetrics = synchronized {
    counters.snapshot(ShardSleep.longest(streams.values.flatMap(_.sleep(now))))
  }

  /** Gives up what is not acknowledged: requests in flight are interrupted, threads end. */
  override def close(): Unit = if (!isClosed) {
    isClosed = true
    synchronized {
      if (failure.isEmpty) failure = Some(new IllegalStateException("The writer is closed."))
      streams.values.foreach(_.abandon(now))
      notifyAll()
    }
    threads.shutdownNow()
    try { threads.awaitTermination(CloseTimeout.toMillis, TimeUnit.MILLISECONDS); () }
    catch { case _: InterruptedException => Thread.currentThread().interrupt() }
  }

  /** Asked on another thread: whoever waits sees that its task is cancelled. */
  private def awaitShards(stream: TargetStream): Unit = {
    requireOngoing()
    threads.execute { () =>
      val answer = attempt(stream.shards)
      synchronized {
        answer.left.foreach(fail)
        notifyAll()
      }
    }
    while (!stream.isListed) awaitNews()
  }

  /** A record larger than all the room gets it alone. */
  private def awaitRoom(size: Long): Unit = {
    requireOngoing()
    def isFull = counters.waiting > 0 &&
      counters.buffered + size + (counters.waiting + 1) * ObjectBytes > options.maxBufferedBytes
    if (isFull) pressing {
      while (isFull) awaitNews()
    }
  }

  /**
   * A full request that waits for another to be answered is enough: what is held for long costs the
   * garbage collector more than what goes soon. Records that wait for their shard hold up nothing.
   */
  private def awaitTurn(lanes: Lanes): Unit =
    while (counters.inFlight >= options.maxInFlightRequests && lanes.isWorthALook) awaitNews()

  private def pressing(wait: => Unit): Unit = {
    isPressed = true
    look()
    requireOngoing()
    try wait
    finally isPressed = false
  }

  private def awaitNews(): Unit = {
    clock.await(this, LookPeriod.toMillis)
    requireOngoing()
  }

  private def requireOngoing(): Unit = {
    failure.foreach(throw _)
    if (isCancelled()) {
      val names = streams.keys.map(_.ref).mkString(", ")
      throw new InterruptedException(s"Writing to stream $names ends: its task was cancelled.")
    }
  }

  /** Sends what there is to send, of each stream in turn, as far as requests may be in flight. */
  private def look(): Unit = if (failure.isEmpty) failing {
    val all = streams.values.toVector
    all.foreach(lookForShards)
    var (nothing, wake) = (0, Lane.Never)
    while (nothing < all.size && counters.inFlight < options.maxInFlightRequests) {
      turn = (turn + 1) % all.size
      val lanes = all(turn)
      lanes.next(now, isPressed) match {
        case Next.Send(request) =>
          threads.execute(() => deliver(lanes, request))
          if (counters.inFlight == options.maxInFlightRequests) lanes.awaitFull()
          nothing = 0
        case Next.Wait(until) =>
          wake = math.min(wake, until)
          nothing += 1
      }
    }
    if (wake < wakeAt) {
      wakeAt = wake
      notifyAll()
    }
  }

  private def deliver(lanes: Lanes, request: Request): Unit = {
    val answer = attempt(lanes.stream.client.putRecords(lanes.stream.ref, request.entries))
    synchronized {
      failing {
        answer match {
          case Right(results) => lanes.answered(request, results, now)
          case Left(e: KinesisException) => lanes.failed(request, e, now)
          case Left(e) => throw e
        }
      }
      look()
      notifyAll()
    }
  }

  private def lookForShards(lanes: Lanes): Unit =
    if (lanes.wantsShards(now) && listing.add(lanes)) {
      val stale = lanes.shards
      threads.execute(() => list(lanes, stale))
    }

  private def list(lanes: Lanes, stale: ShardMap): Unit = {
    val answer = attempt(lanes.stream.shardsAfter(stale))
    synchronized {
      listing -= lanes
      answer match {
        case Right(shards) => lanes.learn(shards, now)
        case Left(e: KinesisException) if isPassing(e) => lanes.learnedNothing(now)
        case Left(e) => fail(e)
      }
      look()
      notifyAll() // aggregates that were found good make room
    }
  }

  /** Whether credentials will be renewed in time is told by the requests. */
  private def isPassing(e: KinesisException): Boolean = e match {
    case _: KinesisException.CredentialsExpired | _: KinesisException.ListingExpired => true
    case _ => e.isRetryable
  }

  /** While the owner is busy elsewhere, records must go when they have lingered. */
  private def startTicking(): Unit = {
    isTicking = true
    threads.execute(() => tick())
  }

  private def tick(): Unit = synchronized {
    try
      while (failure.isEmpty) {
        wakeAt = Lane.Never
        look()
        wakeAt = math.min(wakeAt, now + options.linger.min(LookPeriod).toMillis)
        clock.await(this, wakeAt - now)
      }
    catch { case _: InterruptedException => () } // the writer is closed
  }

  /** An interrupt is an answer, too: the writer is being closed. */
  private def attempt[A](call: => A): Either[Throwable, A] =
    try Right(call)
    catch { case e: Throwable => Left(e) }

  private def failing(body: => Unit): Unit =
    try body
    catch { case e: Throwable => fail(e) } // handed to the owner, whatever it is

  private def fail(e: Throwable): Unit = {
    if (failure.isEmpty) failure = Some(e)
    threads.shutdownNow() // nothing that follows can make the task succeed
    notifyAll()
  }

  private def lanesOf(stream: TargetStream): Lanes =
    new Lanes(stream, limits, options, () => random.nextDouble(), counters, now)

  private def now: Long = clock.elapsedMillis
}

object RecordWriter {

  /** So long it takes at most to see that a task is cancelled, or shards are to be listed. */
  private val LookPeriod = 200.millis

  /** What a record costs beside its bytes: small ones fill the memory, too. */
  private val ObjectBytes = 128L

  /** Interrupted requests end well within it. */
  private val CloseTimeout = 1500.millis
  private val IdleThread = 10.seconds

  /** As many as there are requests in flight, and one that keeps the time. */
  private def newThreads(): ThreadPoolExecutor = {
    val made = new AtomicInteger
    new ThreadPoolExecutor(
      0,
      Int.MaxValue,
      IdleThread.toMillis,
      TimeUnit.MILLISECONDS,
      new SynchronousQueue[Runnable],
      (task: Runnable) => {
        val thread = new Thread(task, s"spark-kinesis-writer-${made.incrementAndGet()}")
        thread.setDaemon(true)
        thread
      }
    )
  }
}
