package sparkkinesis.sink.once

import scala.concurrent.duration._

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
final case class OnceTerms(
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
