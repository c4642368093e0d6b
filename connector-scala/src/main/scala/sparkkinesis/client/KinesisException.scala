package sparkkinesis.client

/**
 * Why a call to Kinesis failed. Closed: every cause the connector treats differently has a name here.
 *
 * @param message names what was asked, of what, and what the service said; never holds a secret
 * @param isRetryable the same call may succeed later, with nothing changed
 */
sealed abstract class KinesisException(message: String, val isRetryable: Boolean, cause: Throwable)
    extends RuntimeException(message, cause)

object KinesisException {

  /** `ProvisionedThroughputExceeded`, `KMSThrottling`, `Throttling`: too much at once. */
  final class Throttled(message: String, cause: Throwable = null)
      extends KinesisException(message, true, cause)

  /** `LimitExceeded`: too many control calls, or a quota is used up. */
  final class LimitExceeded(message: String, cause: Throwable = null)
      extends KinesisException(message, true, cause)

  /** `ExpiredIterator`: take a new one at the last position. */
  final class IteratorExpired(message: String, cause: Throwable = null)
      extends KinesisException(message, false, cause)

  /** `ExpiredNextToken`: begin the listing again. */
  final class ListingExpired(message: String, cause: Throwable = null)
      extends KinesisException(message, false, cause)

  /** `ResourceNotFound`: no such stream, or the shard is gone. */
  final class NotFound(message: String, cause: Throwable = null)
      extends KinesisException(message, false, cause)

  /** `ResourceInUse`: the stream is being created, changed or deleted. */
  final class InUse(message: String, cause: Throwable = null)
      extends KinesisException(message, true, cause)

  /** `InvalidArgument`, `Validation`: the request itself is wrong. */
  final class InvalidArgument(message: String, cause: Throwable = null)
      extends KinesisException(message, false, cause)

  /** `AccessDenied` and the KMS refusals: these credentials may not do that. */
  final class AccessDenied(message: String, cause: Throwable = null)
      extends KinesisException(message, false, cause)

  /** `ExpiredToken`: their time is over. Whoever gave them may give others soon. */
  final class CredentialsExpired(message: String, cause: Throwable = null)
      extends KinesisException(message, false, cause)

  /** No credentials were found, or the service does not know or accept them. */
  final class BadCredentials(message: String, cause: Throwable = null)
      extends KinesisException(message, false, cause)

  /** No connection, or none that answers within the timeouts. The call may have taken effect. */
  final class Unreachable(message: String, cause: Throwable = null)
      extends KinesisException(message, true, cause)

  /** `InternalFailure`, HTTP 5xx: the service failed. The call may have taken effect. */
  final class ServiceFailure(message: String, cause: Throwable = null)
      extends KinesisException(message, true, cause)

  /** Anything else the service or the SDK may say. */
  final class Other(message: String, cause: Throwable = null)
      extends KinesisException(message, false, cause)
}
