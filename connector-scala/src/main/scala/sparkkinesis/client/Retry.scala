package sparkkinesis.client

/**
 * Repeats a control call that a busy service refused. It gives up after a few attempts, so that a
 * query that cannot start fails soon.
 *
 * @param attempts number of attempts, 1 or more, not counting those that a quota refused
 * @param throttledAttempts number of attempts that a quota may refuse: then waiting helps
 */
final case class Retry(attempts: Int, backoff: Backoff, throttledAttempts: Int) {

  /**
   * @param chance random numbers for jitter, evenly distributed in `[0, 1)`
   * @throws KinesisException the last failure, or one that a retry cannot fix
   */
  def apply[A](clock: Clock, chance: () => Double)(call: => A): A = {
    def pause(failures: Int): Unit = clock.sleep(backoff.delay(failures, chance()))
    def attempt(refusals: Int, failures: Int): A =
      try call
      catch {
        case e: KinesisException if e.isThrottling && refusals + 1 < throttledAttempts =>
          pause(refusals + 1)
          attempt(refusals + 1, failures)
        case e: KinesisException if isWorthRepeating(e) && failures + 1 < attempts =>
          pause(failures + 1)
          attempt(refusals, failures + 1)
      }
    attempt(0, 0)
  }

  /** `Unreachable` is not repeated: the call itself has waited for its timeout. */
  private def isWorthRepeating(failure: KinesisException): Boolean = failure match {
    case _: KinesisException.Unreachable => false
    case _ => failure.isRetryable && !failure.isThrottling
  }
}

object Retry {

  /** Does not distinguish between failures. */
  def apply(attempts: Int, backoff: Backoff): Retry = Retry(attempts, backoff, attempts)
}
