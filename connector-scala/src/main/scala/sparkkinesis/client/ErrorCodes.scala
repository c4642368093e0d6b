package sparkkinesis.client

/**
 * The error codes of the service, for calls and for single records: Errors in the API reference of
 * each operation, Common Errors, the codes that the AWS SDK retries, and some codes of emulators.
 */
private[sparkkinesis] object ErrorCodes {

  /** Creates an exception from a message and a cause, which may be null. */
  type Make = (String, Throwable) => KinesisException

  /** The exception for a code. `None` for an unknown code. */
  def exception(code: String): Option[Make] = byCode.get(code)

  /** Whether the code means that the quota is exceeded. */
  def isThrottling(code: String): Boolean =
    known.get(code).exists(_.isInstanceOf[KinesisException.Throttled])

  /** Whether a retry cannot succeed. False for an unknown code. */
  def isPermanent(code: String): Boolean = known.get(code).exists(!_.isRetryable)

  private val byCode: Map[String, Make] = Seq[(Make, Seq[String])](
    (new KinesisException.Throttled(_, _)) -> Seq(
      "ProvisionedThroughputExceededException",
      "KMSThrottlingException",
      "ThrottlingException",
      "Throttling",
      "ThrottledException",
      "TooManyRequestsException",
      "RequestLimitExceeded",
      "RequestThrottled",
      "RequestThrottledException",
      "BandwidthLimitExceeded",
      "SlowDown",
      "EC2ThrottledException",
      "TransactionInProgressException"
    ),
    (new KinesisException.LimitExceeded(_, _)) -> Seq("LimitExceededException"),
    (new KinesisException.IteratorExpired(_, _)) -> Seq("ExpiredIteratorException"),
    (new KinesisException.ListingExpired(_, _)) -> Seq("ExpiredNextTokenException"),
    (new KinesisException.NotFound(_, _)) -> Seq("ResourceNotFoundException"),
    (new KinesisException.InUse(_, _)) -> Seq("ResourceInUseException"),
    (new KinesisException.InvalidArgument(_, _)) -> Seq(
      "InvalidArgumentException",
      "ValidationException",
      "ValidationError",
      "SerializationException"
    ),
    (new KinesisException.AccessDenied(_, _)) -> Seq(
      "AccessDeniedException",
      "AccessDenied",
      "KMSAccessDeniedException",
      "KMSDisabledException",
      "KMSInvalidStateException",
      "KMSNotFoundException",
      "KMSOptInRequired",
      "OptInRequired"
    ),
    (new KinesisException.CredentialsExpired(_, _)) -> Seq("ExpiredTokenException", "ExpiredToken"),
    (new KinesisException.ClockSkewed(_, _)) -> Seq(
      "RequestExpired",
      "RequestInTheFuture",
      "RequestTimeTooSkewed"
    ),
    (new KinesisException.BadCredentials(_, _, false)) -> Seq(
      "UnrecognizedClientException",
      "InvalidClientTokenId",
      "InvalidAccessKeyId",
      "InvalidSignatureException",
      "SignatureDoesNotMatch",
      "IncompleteSignature",
      "IncompleteSignatureException",
      "MissingAuthenticationToken",
      "MissingAuthenticationTokenException",
      "AuthFailure"
    ),
    (new KinesisException.Unreachable(_, _, true)) -> Seq(
      "RequestTimeout",
      "RequestTimeoutException"
    ),
    (new KinesisException.ServiceFailure(_, _)) -> Seq(
      "InternalFailure",
      "InternalFailureException",
      "InternalServerError",
      "InternalError",
      "PriorRequestNotComplete",
      "ServiceUnavailable",
      "ServiceUnavailableException"
    )
  ).flatMap { case (make, codes) => codes.map(_ -> make) }.toMap

  /**
   * Every known code has one shared exception, because the kind is needed for every failed record.
   */
  private val known: Map[String, KinesisException] =
    byCode.map { case (code, make) => code -> make("", null) }
}
