package sparkkinesis.client.aws.credentials

import java.time.Instant

import scala.concurrent.duration._

import org.slf4j.LoggerFactory
import software.amazon.awssdk.core.exception.{AbortedException, SdkException}
import software.amazon.awssdk.services.sts.StsClient
import software.amazon.awssdk.services.sts.model.{AssumeRoleRequest, AssumeRoleResponse}

import sparkkinesis.client.aws.http.Reason
import sparkkinesis.client.{Backoff, Clock}

/**
 * An STS client for one role that pauses after a failure: until the pause ends, each request fails
 * with the same exception, and STS receives nothing.
 *
 * Without it, the SDK's credentials provider sends a request to STS for every call to Kinesis while
 * STS fails (docs/adr/0013-libraries-or-own-code.md).
 *
 * @param discardBeforeExpiry time before their expiry at which the provider discards credentials
 */
private[aws] final class PausingStsClient(
    sts: StsClient,
    discardBeforeExpiry: FiniteDuration,
    clock: Clock
) extends StsClient {
  import PausingStsClient._

  private val log = LoggerFactory.getLogger(classOf[PausingStsClient])
  @volatile private var validUntil = Instant.MIN
  @volatile private var last = Option.empty[Failure]

  override def assumeRole(request: AssumeRoleRequest): AssumeRoleResponse = {
    last.filter(failure => clock.now.isBefore(failure.nextAttempt)).foreach(f => throw f.cause)
    try {
      val response = sts.assumeRole(request)
      validUntil = response.credentials.expiration.minusMillis(discardBeforeExpiry.toMillis)
      last = None
      response
    } catch {
      case interrupted: AbortedException => throw interrupted
      case e: SdkException =>
        last = Some(failure(e, request.roleArn))
        throw e
    }
  }

  private def failure(cause: SdkException, role: String): Failure = {
    val (now, count) = (clock.now, last.fold(0)(_.count) + 1)
    if (now.isBefore(validUntil)) {
      // The pause is at least half of the bound, because the same failure may come again and again.
      val pause = Pauses.delay(count, 0.5 + (cause.hashCode & 0xffff) / 131072.0)
      val next = Seq(now.plusMillis(pause.toMillis), validUntil).min
      val reason = Reason.of(cause).stripSuffix(".")
      log.warn(
        s"STS could not renew the credentials of role $role: $reason. The current credentials " +
          s"are valid until $validUntil. The next attempt is at $next."
      )
      Failure(cause, count, next)
    } else Failure(cause, count, now.plusMillis(PauseWithoutCredentials.toMillis))
  }

  override def serviceName(): String = sts.serviceName()

  override def close(): Unit = sts.close()
}

private[aws] object PausingStsClient {
  private val Pauses = Backoff(1.second, 30.seconds)

  /** Short, because callers without credentials have pauses of their own. */
  private val PauseWithoutCredentials = 100.millis

  private final case class Failure(cause: SdkException, count: Int, nextAttempt: Instant)
}
