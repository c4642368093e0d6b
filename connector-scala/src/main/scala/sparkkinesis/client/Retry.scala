package sparkkinesis.client

/**
 * Asks again, a few times, what a busy control plane refused: a query that cannot begin says so soon.
 *
 * @param attempts in all, 1 or more
 */
final case class Retry(attempts: Int, backoff: Backoff) {

  /**
   * @param chance evenly distributed in `[0, 1)`, for jitter
   * @throws KinesisException the last failure, or one that another attempt would not mend
   */
  def apply[A](clock: Clock, chance: () => Double)(call: => A): A = {
    def attempt(failures: Int): A =
      try call
      catch {
        case failure: KinesisException if isPassing(failure) && failures + 1 < attempts =>
          clock.sleep(backoff.delay(failures + 1, chance()))
          attempt(failures + 1)
      }
    attempt(0)
  }

  /** An endpoint that does not answer has been waited for long enough by the call itself. */
  private def isPassing(failure: KinesisException): Boolean =
    failure.isRetryable && !failure.isInstanceOf[KinesisException.Unreachable]
}
