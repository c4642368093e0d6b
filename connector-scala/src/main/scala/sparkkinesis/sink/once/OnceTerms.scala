package sparkkinesis.sink.once

import scala.concurrent.duration._

/**
 * The times that exactly once relies on.
 *
 * @param lease how long a task may send after the driver saw that its attempt is the newest
 * @param acceptance bound of the time between sending a request and its effect. It is longer than
 *   the 40 s after which the client gives up a call
 * @param margin how much earlier than the first attempt a read-back begins, because arrival times
 *   are approximate
 */
final case class OnceTerms(
    lease: FiniteDuration = 15.seconds,
    acceptance: FiniteDuration = 60.seconds,
    margin: FiniteDuration = 2.minutes
) {

  /** The time after which no request of an attempt that lost its right takes effect. */
  def silence: FiniteDuration = lease + acceptance
}
