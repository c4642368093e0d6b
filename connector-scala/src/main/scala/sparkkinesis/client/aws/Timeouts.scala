package sparkkinesis.client.aws

import scala.concurrent.duration._

/**
 * How long a call to AWS may take.
 *
 * @param connect until a connection stands, and until one of the pool is free
 * @param attempt one request with its whole answer
 * @param call everything about a call, also finding credentials; at least `attempt`
 */
final case class Timeouts(connect: FiniteDuration, attempt: FiniteDuration, call: FiniteDuration) {
  require(attempt <= call, s"An attempt of $attempt does not fit in a call of $call.")

  /** Of a call to the role service: a short answer, and another call waits for it. */
  def ofRole: Timeouts =
    copy(attempt = attempt.min(Timeouts.RoleAttempt), call = call.min(Timeouts.RoleAttempt))
}

object Timeouts {
  private val RoleAttempt = 10.seconds

  /** Enough for a page of 10 MiB over a slow line, and never a hang. */
  val Default: Timeouts = Timeouts(connect = 5.seconds, attempt = 30.seconds, call = 40.seconds)
}
