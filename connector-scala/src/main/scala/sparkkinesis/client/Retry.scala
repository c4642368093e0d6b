package sparkkinesis.client

/**
 * Repeats a control call that a busy service refused. It gives up after a few attempts, so that a
 * query that cannot start fails soon.
 *
 * @param attempts number of attempts, 1 or more
 * @param throttledAttempts the same while a quota is exceeded: then waiting helps
 */
final case class Retry(attempts: Int, backoff: Backoff, throttledAttempts: Int) {

  /**
   * @param chance random numbers for jitter, evenly distributed in `[0, 1)`
   * @throws KinesisException the last failure, or one that a retry cannot fix
   */
  def apply[A](clock: Clock, chance: () => Double)(call: => A): A = {
    def attempt(failures: Int): A =
      try call
      catch {
        case failure: KinesisException if failures + 1 < most(failure) =>
          clock.sleep(backoff.delay(failures + 1, chance()))
          attempt(failures + 1)
      }
    attempt(0)
  }

  /** `Unreachable` is not repeated: the call itself has waited for its timeout. */
  private def most(failure: KinesisException): Int = failure match {
    case _: KinesisException.Unreachable => 1
    case _ if failure.isThrottling => throttledAttempts
    case _ => if (failure.isRetryable) attempts else 1
  }
}

object Retry {

  /** Does not distinguish between failures. */
  def apply(attempts: Int, backoff: Backoff): Retry = Retry(attempts, backoff, attempts)
}
