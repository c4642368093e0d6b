package sparkkinesis.sink.write

import scala.collection.mutable
import scala.concurrent.duration._

import sparkkinesis.client.{KinesisException, PutResult}
import sparkkinesis.model.{PutEntry, ShardMap}
import sparkkinesis.sink.SinkOptions
import sparkkinesis.sink.lane._
import sparkkinesis.sink.metrics.{ShardTraffic, SinkCounter, SinkCounters, SinkMetrics}
import sparkkinesis.sink.once.{Hash128, OnceSender, ShardInDoubt}
import sparkkinesis.sink.rate.TargetStream

/**
 * Every decision of a [[RecordWriter]]: what to send when, when shards are listed, and whether the
 * owner may put the next record. A state machine without threads, clock and lock: the caller passes
 * the time in milliseconds, makes the calls, and reports their results.
 *
 * The first failure ends the loop. It makes no further call after that.
 *
 * @param once for exactly once: sends only while it may
 * @param chance evenly distributed in `[0, 1)`
 */
private[sink] final class WriteLoop(
    options: SinkOptions,
    once: Option[OnceSender],
    chance: () => Double,
    calls: WriteCalls
) {
  import WriteLoop._

  private val lingerMillis = options.linger.min(LongestWait).toMillis
  private val counters = new SinkCounters
  private val streams = mutable.LinkedHashMap.empty[TargetStream, StreamWriter]
  private var last = Option.empty[StreamWriter]
  private var turn = 0
  private var isUrgent = false
  private var stoppedAt = Option.empty[Long] // when the right to send ended
  private var firstFailure = Option.empty[Throwable]
  private var nextTick = Lane.Never
  private var measured = SinkMetrics.Zero
  private var measureAt = Long.MinValue
  private var expired = Vector.empty[ExpiredRecord]

  /** What ended the loop. */
  def failure: Option[Throwable] = firstFailure

  /** When [[tick]] is to be called. Becomes earlier with [[WriteCalls.wakeEarlier]]. */
  def tickAt: Long = nextTick

  /** Bytes of records that are not acknowledged. */
  def bufferedBytes: Long = counters.bufferedBytes

  /** Records that are not acknowledged. */
  def bufferedRecords: Long = counters.bufferedRecords

  /**
   * Everything so far. While records are buffered, shards and times of requests are at most half a
   * second old: Spark asks very often.
   */
  def metrics(now: Long): SinkMetrics = {
    if (now >= measureAt || counters.bufferedRecords == 0 || firstFailure.nonEmpty) {
      measured = counters.snapshot(ShardTraffic.sum(streams.values.flatMap(_.traffic(now))))
      measureAt = now + MetricsAge.toMillis
    }
    measured.copy(counts = counters.values)
  }

  /** Whether the shards of a stream are being listed, because a record is in an unexpected one. */
  def isListing: Boolean = streams.values.exists(_.isListing)

  /** The streams that records were put to. */
  def targets: Iterable[TargetStream] = streams.keys

  /**
   * Whether there is room for a record. A record larger than the whole memory waits to be alone.
   */
  def hasRoom(entry: PutEntry): Boolean = {
    val records = counters.bufferedRecords
    val bytes = counters.bufferedBytes + entry.size + (records + 1) * RecordOverhead
    records == 0 || bytes <= options.maxBufferedBytes
  }

  /**
   * Whether the owner may go on after a `put`. One full request that waits for another to be
   * answered is enough: records that are held for long cost the garbage collector more than others.
   * Records that wait for their shard do not hold up the owner.
   */
  def mayContinue: Boolean = !last.exists(isBehind)

  private def isBehind(stream: StreamWriter): Boolean =
    (counters.inFlight >= options.maxInFlightRequests || stream.isHeldBack) &&
      stream.mayHaveFullRequest

  /**
   * Adds a record.
   *
   * @param stream whose shards are listed
   */
  def put(stream: TargetStream, entry: PutEntry, now: Long): Unit = {
    val writer = last.filter(_.stream eq stream).getOrElse(writerOf(stream, now))
    writer.add(entry, now)
    if (!last.exists(_ eq writer)) last = Some(writer)
    wakeBy(now + lingerMillis)
    if (writer.mayHaveFullRequest) advance(now)
  }

  /** Removes and returns the records that were given up. */
  def takeExpired(): Vector[ExpiredRecord] = {
    val taken = expired
    expired = Vector.empty
    taken
  }

  /** Sends records from now on without waiting for others, because the owner waits for them. */
  def startUrgency(now: Long): Unit = {
    isUrgent = true
    advance(now)
  }

  def endUrgency(): Unit = isUrgent = false

  /** The time has come: sends what has lingered, even if the owner puts no further record. */
  def tick(now: Long): Unit = if (firstFailure.isEmpty) {
    nextTick = Lane.Never
    advance(now)
    wakeBy(now + LongestWait.toMillis)
  }

  /** A request was answered, or its call failed. */
  def answered(
      stream: StreamWriter,
      request: Request,
      answer: Either[Throwable, Seq[PutResult]],
      now: Long
  ): Unit = {
    failing {
      answer match {
        case Right(results) => stream.answered(request, results, now)
        case Left(e: KinesisException) => stream.failed(request, e, now)
        case Left(e) => throw e
      }
    }
    advance(now)
  }

  /** The shards of a stream were listed, or the call failed. */
  def listed(stream: StreamWriter, answer: Either[Throwable, ShardMap], now: Long): Unit = {
    answer match {
      case Right(shards) => stream.listed(shards, now)
      case Left(e: KinesisException) if isRetryable(e) => stream.listingFailed(now)
      case Left(e) => fail(e)
    }
    advance(now)
  }

  /** A look into a stream ended, which began at `askedAt`. */
  def recovered(
      stream: StreamWriter,
      askedAt: Long,
      answer: Either[Throwable, Set[Hash128]],
      now: Long
  ): Unit = {
    answer.fold(fail, stream.recovered(_, askedAt, now))
    advance(now)
  }

  /** `PutRecords` decides how long expired credentials may still be renewed. */
  private def isRetryable(e: KinesisException): Boolean = e match {
    case _: KinesisException.CredentialsExpired | _: KinesisException.ListingExpired => true
    case _ => e.isRetryable
  }

  /** Makes the loop fail, unless it failed before. */
  def fail(e: Throwable): Unit = if (firstFailure.isEmpty) {
    firstFailure = Some(e)
    calls.failed(e)
  }

  /** Stops waiting for answers. Records that are not acknowledged may have been written. */
  def close(): Unit = {
    if (firstFailure.isEmpty)
      firstFailure = Some(new IllegalStateException("The writer is closed."))
    streams.values.foreach(_.abandon())
    counters.close()
  }

  /** Sends what can be sent, of each stream in turn, up to the limit of requests in flight. */
  private def advance(now: Long): Unit = if (firstFailure.isEmpty) failing {
    val all = streams.values.toVector
    expired ++= all.flatMap(_.checkDeadline(now))
    all.foreach(startCalls(_, now))
    if (counters.bufferedRecords == 0) stoppedAt = None
    stoppedAt.foreach(it => counters.add(SinkCounter.LongestPermissionWait, now - it))
    if (once.forall(_.maySend(now))) {
      stoppedAt = None
      sendFrom(all, now)
    } else {
      if (stoppedAt.isEmpty) all.foreach(_.endSleep(now))
      if (counters.bufferedRecords > 0) stoppedAt = stoppedAt.orElse(Some(now))
      wakeBy(now + lingerMillis)
    }
  }

  /** Makes the calls of a stream besides `PutRecords`: at most one of a kind at a time. */
  private def startCalls(stream: StreamWriter, now: Long): Unit = {
    if (stream.needsShards(now)) {
      stream.listingBegan()
      calls.list(stream, stream.shards)
    }
    if (stream.recoverAt > now) wakeBy(stream.recoverAt)
    else stream.beginRecovery(now).foreach(calls.recover(stream, _, now))
  }

  private def sendFrom(all: Vector[StreamWriter], now: Long): Unit = {
    var (waiting, wakeAt) = (0, Lane.Never)
    while (waiting < all.size && counters.inFlight < options.maxInFlightRequests) {
      turn = (turn + 1) % all.size
      val stream = all(turn)
      stream.next(now, isUrgent) match {
        case StreamWriter.Next.Send(request) =>
          calls.send(stream, request)
          waiting = 0
        case StreamWriter.Next.Wait(until) =>
          wakeAt = math.min(wakeAt, until)
          waiting += 1
      }
    }
    wakeBy(wakeAt)
  }

  private def wakeBy(time: Long): Unit = if (time < nextTick) {
    nextTick = time
    calls.wakeEarlier()
  }

  /** Runs code whose every error, even a fatal one, must reach the owner's thread. */
  private def failing(body: => Unit): Unit =
    try body
    catch { case e: Throwable => fail(e) }

  private def writerOf(stream: TargetStream, now: Long) = streams.getOrElseUpdate(
    stream,
    new StreamWriter(stream, options, once, chance, counters, now)
  )
}

private[sink] object WriteLoop {

  /** Milliseconds of requests and shards cost more the more there are. */
  private val MetricsAge = 500.millis

  /** Limits how long it takes to notice that shards must be listed. */
  private val LongestWait = 200.millis

  /** Memory per record in addition to its bytes: many small records fill the memory, too. */
  private val RecordOverhead = 128L
}

/** Makes the calls of a [[WriteLoop]], and keeps the time for it. */
private[sink] trait WriteCalls {

  /** Sends the request, and reports the answer to [[WriteLoop.answered]]. */
  def send(stream: StreamWriter, request: Request): Unit

  /**
   * Lists the shards, and reports them to [[WriteLoop.listed]].
   *
   * @param known the shards that the stream is known to have
   */
  def list(stream: StreamWriter, known: ShardMap): Unit

  /**
   * Looks into these shards for what this writer has sent, and reports it to
   * [[WriteLoop.recovered]]. Only for exactly once.
   */
  def recover(stream: StreamWriter, shards: Seq[ShardInDoubt], askedAt: Long): Unit

  /** [[WriteLoop.tickAt]] is earlier than before. */
  def wakeEarlier(): Unit

  /** Called once, with the first failure. Calls in progress cannot make the writer succeed. */
  def failed(e: Throwable): Unit
}
