package sparkkinesis.client

/**
 * The codes by which the service names failures, of calls and of single records (Errors in the API
 * reference of each operation, and Common Errors; some are of emulators).
 */
object ErrorCodes {

  /** From a message and its cause, if there is one. */
  type Make = (String, Throwable) => KinesisException

  /** `None` for a code that is not known. */
  def maker(code: String): Option[Make] = byCode.get(code)

  /** Too much traffic. */
  def isThrottling(code: String): Boolean =
    known.get(code).exists(_.isInstanceOf[KinesisException.Throttled])

  /** No waiting mends it. */
  def isPermanent(code: String): Boolean = known.get(code).exists(!_.isRetryable)

  private val byCode: Map[String, Make] = Seq[(Make, Seq[String])](
    (new KinesisException.Throttled(_, _)) -> Seq(
      "ProvisionedThroughputExceededException",
      "KMSThrottlingException",
      "ThrottlingException",
      "Throttling",
      "TooManyRequestsException",
      "RequestLimitExceeded"
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
    (new KinesisException.BadCredentials(_, _)) -> Seq(
      "UnrecognizedClientException",
      "InvalidClientTokenId",
      "InvalidAccessKeyId",
      "InvalidSignatureException",
      "SignatureDoesNotMatch",
      "IncompleteSignature",
      "IncompleteSignatureException",
      "RequestExpired",
      "RequestTimeTooSkewed",
      "MissingAuthenticationToken",
      "MissingAuthenticationTokenException",
      "AuthFailure"
    ),
    (new KinesisException.ServiceFailure(_, _)) -> Seq(
      "InternalFailure",
      "InternalFailureException",
      "InternalServerError",
      "InternalError",
      "ServiceUnavailable",
      "ServiceUnavailableException"
    )
  ).flatMap { case (make, codes) => codes.map(_ -> make) }.toMap

  /** One of each, to tell its kind: that is asked for every record that fails. */
  private val known: Map[String, KinesisException] =
    byCode.map { case (code, make) => code -> make("", null) }
}
