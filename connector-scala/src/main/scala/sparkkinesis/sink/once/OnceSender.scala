package sparkkinesis.sink.once

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.client.{Clock, Moment}
import sparkkinesis.model.aggregate.AggregateTags

/**
 * The right of one task attempt to send, and the tags of what it sends. Any thread may call it.
 *
 * The right ends by two clocks, whichever is earlier: the steady clock may stand still while the
 * machine is suspended, and the time of day may be set back.
 */
private[sparkkinesis] final class OnceSender(
    identity: WriterIdentity,
    val terms: OnceTerms,
    clock: Clock
) {
  @volatile private var end = Moment(Instant.MIN, Instant.MIN)

  /** Used by the thread that has the writer's lock. */
  val tags = new AggregateTags(identity.text)

  /** The right ends so many milliseconds after that moment. */
  def hold(from: Moment, millis: Long): Unit =
    end = Moment(from.now.plusMillis(millis), from.steady.plusMillis(millis))

  /**
   * Whether a request that was decided at `sentAt` may still leave. Asked again just before its
   * first byte, because a thread or the credentials may take long. The right may have been renewed
   * meanwhile, but what follows from the request's age counts from the decision.
   *
   * @param sentAt on the steady clock, in milliseconds, like `now`
   */
  def mayLeave(sentAt: Long, now: Long): Boolean =
    now - sentAt <= terms.start.toMillis && maySend(now)

  /** @param now on the steady clock, in milliseconds */
  def maySend(now: Long): Boolean = {
    val held = end
    Instant.ofEpochMilli(now).isBefore(held.steady) && clock.now.isBefore(held.now)
  }
}

private[sparkkinesis] object OnceSender {

  /** Bytes that the aggregate of a single row takes at most, in addition to the row. */
  val OverheadBytes = 512
}

/** What a writer asks the driver for. */
private[sparkkinesis] trait OnceCalls {
  def sender: OnceSender

  /** Why the attempt may not write any more. */
  def failure: Option[Throwable]

  /**
   * The aggregates of this attempt that are in these shards, or in shards that came from them.
   * Waits for the answer.
   *
   * @throws OnceException or `InterruptedException`
   */
  def recover(shards: Seq[ShardInDoubt]): Set[Hash128]
}

/**
 * The times that exactly once relies on.
 *
 * @param lease how long a task may send after the driver saw that its attempt is the newest
 * @param start bound of the time between the decision to send a request and its first byte. The
 *   client checks it, with the right to send, as the last thing before it sends
 * @param acceptance bound of the time between that decision and the effect of the request. It is
 *   longer than `start` and the longest `requestTimeout` together, 35 s. The rest is for the
 *   network and the service
 * @param margin how much earlier than the needed records a read-back begins if it begins at a time.
 *   Arrival times are approximate, and a question to the driver may be on its way for ten seconds,
 *   after which the task gives it up
 * @param visible how long before a request another record must have been acknowledged to come
 *   before it in its shard. `PutRecords` promises no order. But after this time consumers have seen
 *   the acknowledged record, and a later one with a lower number would be missed by all of them. A
 *   record is usually visible within a second
 * @param patience how long the log of attempts may be out of the driver's reach
 */
private[sparkkinesis] final case class OnceTerms(
    lease: FiniteDuration = 15.seconds,
    start: FiniteDuration = 5.seconds,
    acceptance: FiniteDuration = 60.seconds,
    margin: FiniteDuration = 2.minutes,
    visible: FiniteDuration = 10.seconds,
    patience: FiniteDuration = 5.minutes
) {

  /** The time after which no request of an attempt that lost its right takes effect. */
  def silence: FiniteDuration = lease + acceptance
}
