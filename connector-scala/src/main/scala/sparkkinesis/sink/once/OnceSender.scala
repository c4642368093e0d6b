package sparkkinesis.sink.once

import java.time.Instant

import sparkkinesis.client.{Clock, Moment}
import sparkkinesis.model.aggregate.AggregateTags

/**
 * The right of one task attempt to send, and the tags of what it sends. Any thread may call it.
 *
 * The right ends by two clocks, whichever is earlier: the steady clock may stand still while the
 * machine is suspended, and the time of day may be set back.
 */
final class OnceSender(identity: WriterIdentity, val terms: OnceTerms, clock: Clock) {
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

object OnceSender {

  /** Bytes that the aggregate of a single row takes at most, in addition to the row. */
  val OverheadBytes = 512
}

/** What a writer asks the driver for. */
trait OnceCalls {
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
