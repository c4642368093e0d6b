package sparkkinesis.client

/**
 * A call to Kinesis failed. One subclass per cause that the connector treats differently.
 *
 * @param message names the operation, the stream and the service's message; contains no secret
 * @param isRetryable whether the same call may succeed later
 */
private[sparkkinesis] sealed abstract class KinesisException(
    message: String,
    val isRetryable: Boolean,
    cause: Throwable
) extends RuntimeException(message, cause) {

  /** Whether a quota is exceeded, so that waiting helps. */
  final def isThrottling: Boolean = this match {
    case _: KinesisException.Throttled | _: KinesisException.LimitExceeded => true
    case _ => false
  }
}

private[sparkkinesis] object KinesisException {

  /**
   * `ProvisionedThroughputExceeded`, `KMSThrottling`, `Throttling`: a quota per second is exceeded.
   */
  final class Throttled(message: String, cause: Throwable = null)
      extends KinesisException(message, true, cause)

  /** `LimitExceeded`: too many control calls, or a limit of the account is reached. */
  final class LimitExceeded(message: String, cause: Throwable = null)
      extends KinesisException(message, true, cause)

  /** `ExpiredIterator`: get a new iterator at the last position. */
  final class IteratorExpired(message: String, cause: Throwable = null)
      extends KinesisException(message, false, cause)

  /** `ExpiredNextToken`: start the listing again. */
  final class ListingExpired(message: String, cause: Throwable = null)
      extends KinesisException(message, true, cause)

  /** `ResourceNotFound`: the stream or the shard does not exist. */
  final class NotFound(message: String, cause: Throwable = null)
      extends KinesisException(message, false, cause)

  /** `ResourceInUse`: the stream is being created, changed or deleted. */
  final class InUse(message: String, cause: Throwable = null)
      extends KinesisException(message, true, cause)

  /** `InvalidArgument`, `Validation`: the request is invalid. */
  final class InvalidArgument(message: String, cause: Throwable = null)
      extends KinesisException(message, false, cause)

  /**
   * HTTP 413: the server, or a proxy before it, accepts no request of that size. The request had no
   * effect.
   */
  final class TooLarge(message: String, cause: Throwable = null)
      extends KinesisException(message, false, cause)

  /** `AccessDenied` and refusals of KMS: the credentials do not permit the action. */
  final class AccessDenied(message: String, cause: Throwable = null)
      extends KinesisException(message, false, cause)

  /** `ExpiredToken`: the credentials have expired. Their source may renew them soon. */
  final class CredentialsExpired(message: String, cause: Throwable = null)
      extends KinesisException(message, true, cause)

  /**
   * The machine's clock differs from the service's. The client signs the next call with the
   * service's time.
   */
  final class ClockSkewed(message: String, cause: Throwable = null)
      extends KinesisException(message, true, cause)

  /**
   * The exception if no credentials were found, or if the service does not accept them.
   *
   * @param mayPass whether a later look-up may find some
   */
  final class BadCredentials(message: String, cause: Throwable = null, mayPass: Boolean = false)
      extends KinesisException(message, mayPass, cause)

  /**
   * The exception if there is no connection, or no response within the timeout.
   *
   * @param mayHaveArrived whether the call may have taken effect. It has not if no connection was
   *   opened for it
   */
  final class Unreachable(
      message: String,
      cause: Throwable = null,
      val mayHaveArrived: Boolean = true
  ) extends KinesisException(message, true, cause)

  /** The caller did not let the request leave. */
  final class Withheld(message: String) extends KinesisException(message, true, null)

  /** `InternalFailure`, HTTP 5xx: the service failed. The call may have taken effect. */
  final class ServiceFailure(message: String, cause: Throwable = null)
      extends KinesisException(message, true, cause)

  /**
   * The exception if other readers end the subscriptions of a consumer of enhanced fan-out again
   * and again.
   */
  final class ConsumerInUse(message: String, cause: Throwable = null)
      extends KinesisException(message, false, cause)

  /** A consumer of enhanced fan-out does not exist any more, or not yet. */
  final class ConsumerNotFound(message: String, cause: Throwable = null)
      extends KinesisException(message, false, cause)

  /** The endpoint has no enhanced fan-out. */
  final class FanOutUnavailable(message: String, cause: Throwable = null)
      extends KinesisException(message, false, cause)

  /**
   * An event of a subscription that neither our decoder nor a library can decode. The service would
   * send it again.
   */
  final class UnreadableEvent(message: String, cause: Throwable = null)
      extends KinesisException(message, false, cause)

  /** The exception for every failure that has no class of its own. */
  final class Other(message: String, cause: Throwable = null)
      extends KinesisException(message, false, cause)
}
