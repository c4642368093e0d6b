package sparkkinesis.client

import scala.annotation.tailrec
import scala.concurrent.duration._

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

/**
 * Repeats a call as long as a write may take, whatever fails for a while.
 *
 * @param limit from the first attempt on. An attempt that has begun is not cut short
 */
final case class Patience(limit: FiniteDuration) {
  import Patience._

  /**
   * @param chance random numbers for jitter, evenly distributed in `[0, 1)`
   * @throws KinesisException the last failure, or one that a retry cannot fix
   * @throws InterruptedException if the thread is interrupted
   */
  def apply[A](clock: Clock, chance: () => Double)(call: => A): A = {
    val start = clock.elapsedMillis
    @tailrec
    def attempt(failures: Int): A = {
      val answer =
        try Right(call)
        catch { case e: KinesisException if mayRepeat(e, clock.elapsedMillis - start) => Left(e) }
      answer match {
        case Right(value) => value
        case Left(e) =>
          if (failures == 0)
            log.warn(s"${e.getMessage.stripSuffix(".")}. Retrying for up to $limit.")
          clock.sleep(Pauses.delay(failures + 1, chance()))
          attempt(failures + 1)
      }
    }
    attempt(0)
  }

  private def mayRepeat(e: KinesisException, passed: Long): Boolean = {
    val most = e match {
      case _: KinesisException.CredentialsExpired => limit.min(RenewalTime)
      case _ => limit
    }
    e.isRetryable && passed < most.toMillis
  }
}

object Patience {
  private val log = org.slf4j.LoggerFactory.getLogger(classOf[Patience])

  /** Many executors may ask at once, about many streams. */
  private val Pauses = Backoff(base = 200.millis, cap = 5.seconds)

  /** Expired credentials may still be replaced by new ones. */
  val RenewalTime: FiniteDuration = 30.seconds
}
