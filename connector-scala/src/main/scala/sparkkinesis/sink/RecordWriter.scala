package sparkkinesis.sink

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{LinkedBlockingQueue, ThreadPoolExecutor, TimeUnit}

import scala.concurrent.duration._
import scala.jdk.DurationConverters._
import scala.util.Random

import sparkkinesis.client.{Clock, KinesisClient}
import sparkkinesis.model.{PutEntry, StreamRef}

/**
 * Writes records to one stream, many requests at once, in bounded memory. At least once, in no
 * promised order. Owned by one thread, which calls all its methods.
 *
 * The first failure of any request fails the writer: the following call of `put` or `flush`
 * throws it.
 *
 * @param client not closed by the writer
 * @param limits of one request
 * @param isCancelled asked at every record, and every 200 ms while the owner waits: once it is true
 *   `put` and `flush` throw `InterruptedException`, as they do when the owner is interrupted
 */
final class RecordWriter(
    client: KinesisClient,
    stream: StreamRef,
    limits: RequestLimits,
    options: SinkOptions,
    clock: Clock,
    random: Random,
    isCancelled: () => Boolean
) extends AutoCloseable {
  import RecordWriter._

  private val counters = new SinkCounters
  private val delivery = new Delivery(
    client,
    stream,
    options.deliveryTimeout,
    clock,
    () => random.nextDouble(),
    counters,
    acknowledged,
    () => synchronized(waiting)
  )
  private val threads = newThreads(options.maxInFlightRequests)

  // Guarded by this writer's lock.
  private var filling = Option.empty[Batch]
  private var bufferedBytes = 0L
  private var waiting = 0L
  private var failure = Option.empty[Throwable]

  /**
   * Takes a record; returns when there is room for it.
   *
   * @throws DeliveryTimeoutException or `KinesisException` where a record could not be written
   */
  def put(entry: PutEntry): Unit = synchronized {
    val size = EntrySize.of(entry)
    awaitRoom(size)
    bufferedBytes += size
    waiting += 1
    val grown = filling.flatMap(_.add(entry, limits)).getOrElse {
      sendFilling()
      Batch.of(entry, clock.now)
    }
    filling = Some(grown)
    if (grown.isFull(limits) || isLingering(grown)) sendFilling()
  }

  /**
   * Returns when every record is acknowledged.
   *
   * @throws DeliveryTimeoutException or `KinesisException` where one could not be written
   */
  def flush(): Unit = synchronized {
    requireOngoing()
    sendFilling()
    while (waiting > 0) awaitNews()
  }

  /** Not yet acknowledged, in bytes. */
  def buffered: Long = synchronized(bufferedBytes)

  /** So far; still growing while requests are in flight. */
  def metrics: SinkMetrics = counters.snapshot

  /** Gives up what is not acknowledged: requests in flight are interrupted, threads end. */
  override def close(): Unit = {
    threads.shutdownNow()
    try { threads.awaitTermination(CloseTimeout.toMillis, TimeUnit.MILLISECONDS); () }
    catch { case _: InterruptedException => Thread.currentThread().interrupt() }
  }

  /** A record larger than all the room gets it alone. */
  private def awaitRoom(size: Long): Unit = {
    requireOngoing()
    while (bufferedBytes > 0 && bufferedBytes + size > options.maxBufferedBytes) {
      sendFilling()
      awaitNews()
    }
  }

  private def awaitNews(): Unit = {
    wait(LookPeriod.toMillis)
    requireOngoing()
  }

  private def requireOngoing(): Unit = {
    failure.foreach(throw _)
    if (isCancelled())
      throw new InterruptedException(s"Writing to stream $stream ends: its task was cancelled.")
  }

  private def isLingering(batch: Batch): Boolean =
    clock.now.isAfter(batch.since.plus(Linger.toJava))

  private def sendFilling(): Unit = {
    filling.foreach(batch => threads.execute(() => deliver(batch)))
    filling = None
  }

  private def deliver(batch: Batch): Unit =
    try delivery.run(batch)
    catch { case e: Throwable => failed(e) } // handed to the owner, whatever it is

  private def acknowledged(records: Int, bytes: Long): Unit = synchronized {
    waiting -= records
    bufferedBytes -= bytes
    notifyAll()
  }

  private def failed(e: Throwable): Unit = synchronized {
    if (failure.isEmpty) failure = Some(e)
    notifyAll()
    threads.shutdownNow() // nothing that follows can make the task succeed
    ()
  }
}

object RecordWriter {

  /** So long a request waits for more records while they come. */
  private val Linger = 100.millis

  /** So long a cancelled task waits at most before it sees that. */
  private val LookPeriod = 200.millis

  /** Interrupted requests end well within it. */
  private val CloseTimeout = 1500.millis
  private val IdleThread = 10.seconds

  /** Requests wait in its queue; `maxBufferedBytes` bounds them. */
  private def newThreads(count: Int): ThreadPoolExecutor = {
    val made = new AtomicInteger
    val threads = new ThreadPoolExecutor(
      count,
      count,
      IdleThread.toMillis,
      TimeUnit.MILLISECONDS,
      new LinkedBlockingQueue[Runnable],
      (task: Runnable) => {
        val thread = new Thread(task, s"spark-kinesis-writer-${made.incrementAndGet()}")
        thread.setDaemon(true)
        thread
      }
    )
    threads.allowCoreThreadTimeOut(true)
    threads
  }
}
