package sparkkinesis.client.access

import scala.concurrent.duration._

/**
 * Time limits of the calls to AWS.
 *
 * @param connect limit for opening a connection, and for waiting for a free one
 * @param attempt limit for one request and its whole response
 * @param call limit for a call including its credentials; at least `attempt`
 * @param renewBeforeExpiry time before the expiry of a role's credentials at which they are renewed
 * @param discardBeforeExpiry time before their expiry from which no request is signed with them
 */
private[sparkkinesis] final case class Timeouts(
    connect: FiniteDuration,
    attempt: FiniteDuration,
    call: FiniteDuration,
    renewBeforeExpiry: FiniteDuration = 5.minutes,
    discardBeforeExpiry: FiniteDuration = 10.seconds
) {
  require(attempt <= call, s"The timeout of an attempt, $attempt, exceeds that of a call, $call.")

  /** Limits of a call to STS, whose responses are short. Another call waits for it. */
  def ofRole: Timeouts =
    copy(attempt = attempt.min(Timeouts.RoleAttempt), call = call.min(Timeouts.RoleAttempt))
}

private[sparkkinesis] object Timeouts {
  private val RoleAttempt = 10.seconds

  /** Enough for a page of 10 MiB over a slow line. */
  val Default: Timeouts = Timeouts(connect = 5.seconds, attempt = 30.seconds, call = 40.seconds)
}
