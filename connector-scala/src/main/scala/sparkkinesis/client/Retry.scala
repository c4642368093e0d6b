package sparkkinesis.client

import scala.annotation.tailrec
import scala.concurrent.duration._

import org.slf4j.LoggerFactory

import sparkkinesis.compat._

/** Repeats a call that failed, with a pause before each repetition. */
private[sparkkinesis] object Retry {
  private val log = LoggerFactory.getLogger(getClass)

  /** Many executors may ask at once, about many streams. */
  val Pauses: Backoff = Backoff(base = 200.millis, cap = 5.seconds)

  private val StartPauses = Backoff(base = 200.millis, cap = 10.seconds)
  private val StartAttempts = 4

  /** Attempts that a quota may refuse: a busy account gets two minutes on average. */
  private val ThrottledStartAttempts = 28

  /** The time in which credentials that have expired, or were not found, may be replaced. */
  val RenewalTime: FiniteDuration = 30.seconds

  /**
   * Repeats a call that a query needs in order to start. It gives up after a few attempts, so that
   * a query that cannot start fails soon. Attempts that a quota refuses count apart, because then
   * waiting helps.
   *
   * @throws KinesisException the last failure, or one that a retry cannot fix
   */
  def atStart[A](clock: Clock)(call: => A): A = {
    var (refusals, failures) = (0, 0)
    repeated(clock, StartPauses) {
      case e if e.isThrottling =>
        refusals += 1
        Option.when(refusals < ThrottledStartAttempts)(refusals)
      // The call itself has waited for its timeout, or has asked every source of credentials.
      case _: KinesisException.Unreachable | _: KinesisException.BadCredentials => None
      case e =>
        failures += 1
        Option.when(e.isRetryable && failures < StartAttempts)(failures)
    }(call)
  }

  /**
   * Repeats a call as long as a write may take, whatever fails for a while.
   *
   * @param limit from the first attempt on. An attempt that has begun is not cut short
   * @throws KinesisException the last failure, or one that a retry cannot fix
   * @throws InterruptedException if the thread is interrupted
   */
  def within[A](limit: FiniteDuration, clock: Clock)(call: => A): A = {
    val start = clock.elapsedMillis
    var failures = 0
    repeated(clock, Pauses) { e =>
      val most = e match {
        case _: KinesisException.CredentialsExpired | _: KinesisException.BadCredentials =>
          limit.min(RenewalTime)
        case _ => limit
      }
      val isRepeated = e.isRetryable && clock.elapsedMillis - start < most.toMillis
      if (isRepeated && failures == 0)
        log.warn(s"${e.getMessage.stripSuffix(".")}. Retrying for up to $most.")
      failures += 1
      Option.when(isRepeated)(failures)
    }(call)
  }

  /** @param again after how many failures the next pause comes; `None` to throw this failure */
  def repeated[A](clock: Clock, pauses: Backoff)(
      again: KinesisException => Option[Int]
  )(call: => A): A = {
    @tailrec
    def attempt(): A = {
      val answer =
        try Right(call)
        catch { case e: KinesisException => Left(again(e).getOrElse(throw e)) }
      answer match {
        case Right(value) => value
        case Left(failures) =>
          clock.sleep(pauses.delay(failures, clock.chance()))
          attempt()
      }
    }
    attempt()
  }
}
