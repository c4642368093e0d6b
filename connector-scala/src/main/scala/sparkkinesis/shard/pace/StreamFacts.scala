package sparkkinesis.shard.pace

import java.time.Instant
import java.util.concurrent.atomic.AtomicBoolean

import scala.concurrent.duration._

import sparkkinesis.client._
import sparkkinesis.model.{Shard, StreamRef}

/**
 * The shards and the retention period of one stream, asked for once for all readers of an executor,
 * because an account has few such calls per second. After a failed call it does not repeat the call
 * for a while. All times are of a clock that never jumps. Thread-safe.
 */
private[sparkkinesis] final class StreamFacts {
  import StreamFacts._

  private val listing = new Remembered[Seq[Shard]](Backoff(500.millis, 30.seconds))

  /** Continues a listing that failed in the middle. Guarded by the lock of `listing`. */
  private var failedLister = Option.empty[(ShardLister, Instant)] // and when it began

  private val described = new Remembered[FiniteDuration](Backoff(1.second, 1.second))
  @volatile private var learned = Option.empty[(FiniteDuration, Instant)]
  private val isDescribing = new AtomicBoolean

  /**
   * All shards, open and closed, by a listing that is at most ten seconds old. A reader waits while
   * another one lists them.
   *
   * @param notBefore the listing must not be older than this time
   * @throws KinesisException if the call fails, or failed a moment ago
   */
  def shards(
      client: KinesisClient,
      stream: StreamRef,
      notBefore: Instant,
      now: Instant
  ): Seq[Shard] = listing.synchronized {
    def within(age: FiniteDuration) = Seq(notBefore, now.minusMillis(age.toMillis)).max
    listing.since(within(MaxAge)).getOrElse {
      listing.ask(now) {
        val (current, begunAt) = failedLister
          .filterNot(_._2.isBefore(within(MaxPartialAge)))
          .getOrElse(new ShardLister(client, stream, ShardFilter.FromTrimHorizon) -> now)
        failedLister = Some(current -> begunAt)
        val shards = current.list().shards
        failedLister = None
        (shards, begunAt)
      }
    }
  }

  /** The driver described the stream, perhaps long ago. */
  def learn(retention: FiniteDuration, now: Instant): Unit =
    if (learned.isEmpty && described.last.isEmpty) learned = Some(retention -> now)

  /**
   * The retention period, asked for at most every ten minutes. If that is not possible, the last
   * known value is used, so that reading does not wait for it.
   *
   * @throws KinesisException if no value is known, and it cannot be asked for at present
   */
  def latestRetention(client: KinesisClient, stream: StreamRef, now: Instant): FiniteDuration = {
    val since = youngerThan(CacheTime, now)
    val young = described.since(since).orElse(learned.filterNot(_._2.isBefore(since)).map(_._1))
    young.getOrElse {
      try describe(client, stream, now)
      catch {
        case e: KinesisException => described.last.orElse(learned.map(_._1)).getOrElse(throw e)
      }
    }
  }

  /**
   * The retention period by a description that this executor made less than a minute ago.
   *
   * @throws KinesisException if the call fails, failed a moment ago, or another reader makes it
   */
  def provenRetention(client: KinesisClient, stream: StreamRef, now: Instant): FiniteDuration =
    described.since(youngerThan(ProofTime, now)).getOrElse(describe(client, stream, now))

  /** While one reader asks, the others do not wait. */
  private def describe(client: KinesisClient, stream: StreamRef, now: Instant): FiniteDuration =
    if (isDescribing.compareAndSet(false, true))
      try described.ask(now)(client.describeStream(stream).retention -> now)
      finally isDescribing.set(false)
    else
      throw new KinesisException.LimitExceeded(
        s"Another reader is asking for the retention period of stream $stream."
      )
}

private object StreamFacts {
  private val MaxAge = 10.seconds
  private val MaxPartialAge = 2.minutes

  /** A changed retention period takes effect after this time. */
  private val CacheTime = 10.minutes

  /** A loss is not reported because of an older description. */
  private val ProofTime = 1.minute

  private def youngerThan(age: FiniteDuration, now: Instant): Instant =
    now.minusMillis(age.toMillis - 1)
}

/** The last answer to a call, and its last failure. Asked by one thread at a time. */
private final class Remembered[A](pauses: Backoff) {
  @volatile private var answer = Option.empty[(A, Instant)]
  private var failures = 0 // in a row
  private var failure = Option.empty[(KinesisException, Instant)] // thrown again until this time

  def last: Option[A] = answer.map(_._1)

  /** The last answer, unless it is older. */
  def since(time: Instant): Option[A] = answer.filterNot(_._2.isBefore(time)).map(_._1)

  /**
   * @param call returns the answer and its time
   * @throws KinesisException what the call throws, or threw a moment ago
   */
  def ask(now: Instant)(call: => (A, Instant)): A = {
    failure.foreach { case (cause, until) => if (now.isBefore(until)) throw cause }
    try {
      val (value, at) = call
      answer = Some(value -> at)
      failures = 0
      failure = None
      value
    } catch {
      case cause: KinesisException =>
        failures += 1
        failure = Some(cause -> now.plusMillis(pauses.bound(failures).toMillis))
        throw cause
    }
  }
}
