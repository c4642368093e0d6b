package sparkkinesis.sink.write

import java.util.concurrent.Executors

import scala.concurrent.duration._
import scala.util.Random

import sparkkinesis.client.{Clock, DaemonThreads}
import sparkkinesis.model.{PutEntry, ShardMap}
import sparkkinesis.sink.SinkOptions
import sparkkinesis.sink.lane.{ExpiredRecord, Request}
import sparkkinesis.sink.metrics.SinkMetrics
import sparkkinesis.sink.once.{Hash128, OnceCalls, ShardInDoubt}
import sparkkinesis.sink.rate.TargetStream

/**
 * Writes records to streams at least once, with several requests in flight and in bounded memory.
 * One thread, the owner, calls all its methods. [[WriteLoop]] makes the decisions; this class adds
 * threads, a lock and the clock.
 *
 * The first failure of any request makes the writer fail: the next call of `put` or `flush` throws
 * it.
 *
 * @param once for exactly once
 * @param isCancelled checked at every record, and every 200 ms while the owner waits. When it is
 *   true, `put` and `flush` throw `InterruptedException`, as they do if the owner is interrupted
 * @param onFailure called once, when the writer fails. Any thread calls it, with the writer's lock
 * @param recheck called after a listing that shows no other shards, although Kinesis wrote a record
 *   to another shard than expected. What it throws counts as a failure of the listing
 */
private[sparkkinesis] final class RecordWriter(
    options: SinkOptions,
    once: Option[OnceCalls],
    clock: Clock,
    random: Random,
    isCancelled: () => Boolean,
    onFailure: () => Unit = () => (),
    recheck: TargetStream => Unit = _ => ()
) extends AutoCloseable {
  import RecordWriter._

  /** As many as there are calls in progress. */
  private val threads = Executors.newCachedThreadPool(DaemonThreads.named("spark-kinesis-writer"))
  private var isClosed = false

  // Guarded by this writer's lock.
  private val loop =
    new WriteLoop(options, once.map(_.sender), () => random.nextDouble(), Calls)
  private var isTicking = false
  private var isAwaited = false // the owner waits

  /**
   * Adds a record. Waits until there is room for it.
   *
   * @throws DeliveryTimeoutException or `KinesisException` if a record could not be written
   */
  def put(stream: TargetStream, entry: PutEntry): Unit = synchronized {
    if (!stream.isListed) aside(stream.shards(options.deliveryTimeout))
    requireRunning()
    if (!loop.hasRoom(entry)) urgently(awaitUntil(loop.hasRoom(entry)))
    loop.put(stream, entry, now)
    if (!isTicking) startTicking()
    awaitUntil(loop.mayContinue)
  }

  /**
   * Returns when every record is acknowledged or given up. With order, a listing in progress may
   * show that there was none.
   *
   * @throws DeliveryTimeoutException or `KinesisException` if a record could not be written
   */
  def flush(): Unit = synchronized {
    requireRunning()
    urgently(awaitUntil(loop.bufferedRecords == 0 && !(options.isOrdered && loop.isListing)))
  }

  /**
   * Returns if nothing failed so far.
   *
   * @throws DeliveryTimeoutException or `KinesisException` if a record could not be written
   */
  def check(): Unit = synchronized(requireRunning())

  /**
   * Removes and returns the records that their shards did not take in time, if the options say that
   * they are kept. After `flush`, each record is either acknowledged or among these.
   */
  def takeExpired(): Vector[ExpiredRecord] = synchronized(loop.takeExpired())

  /** Bytes of records that are not acknowledged. */
  def buffered: Long = synchronized(loop.bufferedBytes)

  /** Everything so far. See [[WriteLoop.metrics]]. */
  def metrics: SinkMetrics = synchronized(loop.metrics(now))

  /** Gives up records that are not acknowledged: interrupts the requests and ends the threads. */
  override def close(): Unit = if (!isClosed) {
    isClosed = true
    synchronized {
      loop.close()
      notifyAll()
    }
    DaemonThreads.end(threads, EndTime)
  }

  /**
   * Makes a call in another thread, so that the owner notices when its task is cancelled.
   *
   * @throws InterruptedException or what the call throws
   */
  def aside[A](call: => A): A = synchronized {
    requireRunning()
    var answer = Option.empty[Either[Throwable, A]]
    run {
      val it = attempt(call)
      update { answer = Some(it) }
    }
    awaitUntil(answer.nonEmpty)
    answer.get.fold(throw _, identity)
  }

  private def urgently(wait: => Unit): Unit = {
    loop.startUrgency(now)
    requireRunning()
    try wait
    finally loop.endUrgency()
  }

  /** While the owner waits, it keeps the time itself. */
  private def awaitUntil(isReached: => Boolean): Unit = while (!isReached) {
    isAwaited = true
    try clock.await(this, math.min(CancelPeriod.toMillis, loop.tickAt - now))
    finally isAwaited = false
    tick()
    requireRunning()
  }

  private def tick(): Unit = if (loop.tickAt <= now) update(loop.tick(now))

  private def requireRunning(): Unit = {
    loop.failure.foreach(throw _)
    once.flatMap(_.failure).foreach(throw _)
    if (isCancelled()) {
      val streams = loop.targets.map(_.ref).mkString(", ")
      throw new InterruptedException(s"The task that writes to Kinesis ($streams) was cancelled.")
    }
  }

  /** The calls of the loop, each in a thread of its own. */
  private object Calls extends WriteCalls {
    override def send(stream: StreamWriter, request: Request): Unit = run {
      val (client, ref) = (stream.stream.client, stream.stream.ref)
      def mayLeave = once.forall(_.sender.mayLeave(request.sentAt, now))
      val answer =
        attempt(client.putRecords(ref, request.entries, options.requestTimeout, () => mayLeave))
      update(loop.answered(stream, request, answer, now))
    }

    override def list(stream: StreamWriter, known: ShardMap): Unit = run {
      val answer = attempt {
        val shards = stream.stream.shardsAfter(known)
        if (shards eq known) recheck(stream.stream)
        shards
      }
      update(loop.listed(stream, answer, now))
    }

    override def recover(
        stream: StreamWriter,
        shards: Seq[ShardInDoubt],
        askedAt: Long
    ): Unit = run {
      // The thread may begin late, and a doubt that seems younger is looked up too late.
      val aged = shards.map(it => it.copy(ageMillis = it.ageMillis + (now - askedAt)))
      val answer = attempt(once.fold(Set.empty[Hash128])(_.recover(aged)))
      update(loop.recovered(stream, askedAt, answer, now))
    }

    override def wakeEarlier(): Unit = RecordWriter.this.notifyAll()

    override def failed(e: Throwable): Unit = {
      threads.shutdownNow()
      RecordWriter.this.notifyAll()
      onFailure()
    }
  }

  /** The owner may wait for what has changed. */
  private def update(change: => Unit): Unit = synchronized {
    change
    if (isAwaited) notifyAll()
  }

  /** An interrupt is an answer, too: the writer is being closed. */
  private def attempt[A](call: => A): Either[Throwable, A] =
    try Right(call)
    catch { case e: Throwable => Left(e) }

  private def startTicking(): Unit = {
    isTicking = true
    run(tickUntilFailure())
  }

  private def tickUntilFailure(): Unit = synchronized {
    try
      while (loop.failure.isEmpty) {
        if (!isAwaited) tick()
        clock.await(this, loop.tickAt - now)
      }
    catch { case _: InterruptedException => () } // the writer is closed
  }

  private def run(body: => Unit): Unit = threads.execute(() => body)

  private def now: Long = clock.elapsedMillis
}

private object RecordWriter {

  /** How long it takes at most to notice that the task is cancelled. */
  private val CancelPeriod = 200.millis

  /** An interrupted request ends well within this time. */
  private val EndTime = 1500.millis
}
