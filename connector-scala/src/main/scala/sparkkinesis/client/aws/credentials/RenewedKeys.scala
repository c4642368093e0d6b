package sparkkinesis.client.aws.credentials

import java.time.{Duration, Instant}
import java.util.concurrent.locks.ReentrantLock

import scala.concurrent.duration._
import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import sparkkinesis.client.access.AwsKeys
import sparkkinesis.client.{Backoff, Clock}

/**
 * Keeps the keys of a user's provider until they are due for renewal. While one thread renews keys
 * that are still valid, or if that fails, other threads use the old ones. Any thread may call it.
 *
 * @param name of the provider, for messages
 */
private[credentials] final class RenewedKeys(
    name: String,
    fetch: () => AwsKeys,
    clock: Clock
) {
  import RenewedKeys._

  private val log = LoggerFactory.getLogger(classOf[RenewedKeys])
  private val turn = new ReentrantLock
  @volatile private var held = Option.empty[Held]

  /** Throws what the provider throws, if there are no valid keys. */
  def current(): AwsKeys = fresh.getOrElse(renewed()).keys

  private def fresh: Option[Held] = held.filter(it => clock.now.isBefore(it.renewAt))

  private def renewed(): Held = held.filter(it => clock.now.isBefore(it.validUntil)) match {
    case Some(old) => if (turn.tryLock()) inTurn(renewedOr(old)) else old
    case None =>
      turn.lockInterruptibly()
      inTurn(fresh.getOrElse(fetched()))
  }

  private def inTurn(work: => Held): Held =
    try {
      val result = work
      held = Some(result)
      result
    } finally turn.unlock()

  private def fetched(): Held = Held.of(fetch(), clock.now)

  private def renewedOr(old: Held): Held =
    try fetched()
    catch {
      case NonFatal(e) =>
        val next = old.failed(clock.now, clock.chance())
        log.warn(
          s"Class $name could not renew the credentials: $e. The connector uses the current " +
            s"credentials, and asks again at ${next.renewAt}."
        )
        next
    }
}

private[credentials] object RenewedKeys {
  private val MostBeforeExpiry = Duration.ofMinutes(5)
  private val DiscardBeforeExpiry = Duration.ofSeconds(10)
  private val PeriodWithoutExpiry = Duration.ofMinutes(1)
  private val Pauses = Backoff(1.second, 30.seconds)

  /**
   * @param renewAt when to ask the provider again
   * @param validUntil when the keys can no longer sign a request
   * @param failures number of renewals that failed in a row
   */
  final case class Held(keys: AwsKeys, renewAt: Instant, validUntil: Instant, failures: Int) {

    /** At least half of the bound passes, so that a failing provider is not asked all the time. */
    def failed(now: Instant, chance: Double): Held = {
      val next = now.plusMillis(Pauses.delay(failures + 1, 0.5 + chance / 2).toMillis)
      copy(renewAt = Seq(next, validUntil).min, failures = failures + 1)
    }
  }

  object Held {

    /** Renews keys that expire soon after half of their life. */
    def of(keys: AwsKeys, now: Instant): Held = Option(keys.expiration) match {
      case None => Held(keys, now.plus(PeriodWithoutExpiry), Instant.MAX, 0)
      case Some(expiry) =>
        val half = Duration.between(now, expiry).dividedBy(2)
        val before = if (half.compareTo(MostBeforeExpiry) < 0) half else MostBeforeExpiry
        Held(keys, expiry.minus(before), expiry.minus(DiscardBeforeExpiry), 0)
    }
  }
}
