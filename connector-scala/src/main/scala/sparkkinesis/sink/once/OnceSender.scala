package sparkkinesis.sink.once

import java.time.Instant

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.client.{Clock, Moment}
import sparkkinesis.model.aggregate.AggregateTags

/**
 * The right of one task attempt to send, and the tags of what it sends. Any thread may call it.
 *
 * The right ends by two clocks, whichever is earlier: the steady clock may stand still while the
 * machine is suspended, and the time of day may be set back.
 *
 * @param acceptance see [[OnceTerms]]
 */
final class OnceSender(identity: WriterIdentity, val acceptance: FiniteDuration, clock: Clock) {
  @volatile private var end = Moment(Instant.MIN, Instant.MIN)

  /** Used by the thread that has the writer's lock. */
  val tags = new AggregateTags(identity.text)

  /** The right ends so many milliseconds after that moment. */
  def hold(from: Moment, millis: Long): Unit =
    end = Moment(from.now.plusMillis(millis), from.steady.plusMillis(millis))

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
   * The aggregates of this attempt that are in the stream. Waits for the answer.
   *
   * @throws OnceException or `InterruptedException`
   */
  def recover(): Set[Hash128]
}
