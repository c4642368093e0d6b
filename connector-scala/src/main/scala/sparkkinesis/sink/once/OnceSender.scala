package sparkkinesis.sink.once

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.model.aggregate.AggregateTags

/**
 * The right of one task attempt to send, and the tags of what it sends. Any thread may call it.
 *
 * @param acceptance see [[OnceTerms]]
 */
final class OnceSender(identity: WriterIdentity, val acceptance: FiniteDuration) {
  @volatile private var heldUntil = Long.MinValue

  /** Used by the thread that has the writer's lock. */
  val tags = new AggregateTags(identity.text)

  /** @param time on the clock of the writer, in milliseconds */
  def holdUntil(time: Long): Unit = heldUntil = time

  def maySend(now: Long): Boolean = now < heldUntil
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
