package sparkkinesis.client

/**
 * Repeats a control call that a busy service refused. It gives up after a few attempts, so that a
 * query that cannot start fails soon.
 *
 * @param attempts number of attempts, 1 or more
 */
final case class Retry(attempts: Int, backoff: Backoff) {

  /**
   * @param chance random numbers for jitter, evenly distributed in `[0, 1)`
   * @throws KinesisException the last failure, or one that a retry cannot fix
   */
  def apply[A](clock: Clock, chance: () => Double)(call: => A): A = {
    def attempt(failures: Int): A =
      try call
      catch {
        case failure: KinesisException if isTransient(failure) && failures + 1 < attempts =>
          clock.sleep(backoff.delay(failures + 1, chance()))
          attempt(failures + 1)
      }
    attempt(0)
  }

  /** `Unreachable` is not repeated: the call itself has waited for its timeout. */
  private def isTransient(failure: KinesisException): Boolean =
    failure.isRetryable && !failure.isInstanceOf[KinesisException.Unreachable]
}
