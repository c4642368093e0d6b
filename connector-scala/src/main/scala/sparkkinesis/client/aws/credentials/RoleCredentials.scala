package sparkkinesis.client.aws.credentials

import java.time.{Duration => JavaDuration, Instant}
import java.util.concurrent.locks.ReentrantLock

import scala.concurrent.duration._
import scala.util.control.NonFatal

import org.slf4j.LoggerFactory
import software.amazon.awssdk.auth.credentials.{
  AwsCredentials => SdkCredentials,
  AwsCredentialsProvider,
  AwsSessionCredentials
}
import software.amazon.awssdk.core.exception.{AbortedException, SdkClientException}

import sparkkinesis.client.{Backoff, Clock}

/**
 * Credentials of an assumed role, renewed minutes before they expire by whichever call comes first; the
 * others go on with the old ones meanwhile. No thread of its own. As long as the old ones are valid, a role
 * service that fails costs nothing but now and then an attempt.
 *
 * The SDK's provider asks again at every call while the role service fails, gives up a minute before the
 * credentials do, and renews in the background only by threads that outlive the client.
 *
 * @param name of the role, for the log
 * @param assume asks the role service
 */
private[aws] final class RoleCredentials(
    name: String,
    assume: () => AwsSessionCredentials,
    clock: Clock
) extends AwsCredentialsProvider {
  import RoleCredentials._

  private val log = LoggerFactory.getLogger(classOf[RoleCredentials])
  private val turn = new ReentrantLock
  @volatile private var state: State = State(None, None, Instant.MIN)

  override def resolveCredentials(): SdkCredentials = {
    val known = state
    known.session.filter(_.isUsable(clock.now)) match {
      case Some(session) =>
        if (!clock.now.isBefore(known.due) && turn.tryLock()) inTurn(renewed())
        else session.credentials
      case None =>
        awaitTurn()
        inTurn(renewed())
    }
  }

  private def inTurn[A](use: => A): A =
    try use
    finally turn.unlock()

  private def awaitTurn(): Unit =
    try turn.lockInterruptibly()
    catch {
      case _: InterruptedException =>
        Thread.currentThread.interrupt()
        throw AbortedException.create("Interrupted while a role was being assumed.")
    }

  /** Another may have been first; those who waited hear what that one heard. */
  private def renewed(): SdkCredentials = {
    if (!clock.now.isBefore(state.due)) state = attempt()
    state.session.filter(_.isUsable(clock.now)).fold(throw state.failure)(_.credentials)
  }

  private def attempt(): State =
    try {
      val session = new Session(assume(), clock.now)
      State(Some(session), None, session.renewal)
    } catch {
      case aborted: AbortedException => throw aborted
      case NonFatal(cause) =>
        val count = state.failures + 1
        val due = state.session.filter(_.isUsable(clock.now)).fold(soon)(later(_, cause, count))
        state.copy(last = Some(Failed(cause, count)), due = due)
    }

  private def soon: Instant = clock.now.plusMillis(Settling.toMillis)

  private def later(old: Session, cause: Throwable, count: Int): Instant = {
    val next = clock.now.plusMillis(Waiting.delay(count, old.chance).toMillis)
    log.warn(
      s"Role $name could not be assumed again: ${cause.getMessage} Going on with the credentials at " +
        s"hand, which are valid until ${old.expiry}; trying again at $next."
    )
    if (next.isBefore(old.end)) next else old.end
  }
}

private[aws] object RoleCredentials {

  /** Before they expire; half as long again for some, so that executors do not all ask at once. */
  private val Lead = 5.minutes

  /** Under way to the service they must not expire. */
  private val Margin = 10.seconds

  private val Waiting = Backoff(1.second, 30.seconds)

  /** With no credentials at all the callers have pauses of their own. */
  private val Settling = 100.millis

  private final case class Failed(cause: Throwable, count: Int)

  /**
   * @param last failure since the role was assumed
   * @param due when the role service may be asked next
   */
  private final case class State(session: Option[Session], last: Option[Failed], due: Instant) {
    def failures: Int = last.fold(0)(_.count)

    def failure: Throwable =
      last.fold[Throwable](
        SdkClientException.create("The role's credentials had expired at birth.")
      )(
        _.cause
      )
  }

  /** Of short-lived ones half the life is used at least, and all but a tenth at most. */
  private final class Session(val credentials: AwsSessionCredentials, begun: Instant) {
    val expiry: Instant = credentials.expirationTime.orElse(begun)
    private val life = JavaDuration.between(begun, expiry).toMillis.max(0).millis

    /** Drawn from the key's id, which no other executor has. */
    val chance: Double = (credentials.accessKeyId.hashCode & 0xffff) / 65536.0

    val renewal: Instant = {
      val lead = (Lead + Lead / 2 * chance).min(life / 2)
      expiry.minusMillis(lead.toMillis)
    }

    val end: Instant = expiry.minusMillis(Margin.min(life / 10).toMillis)

    def isUsable(now: Instant): Boolean = now.isBefore(end)
  }
}
