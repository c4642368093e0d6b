package sparkkinesis.simulator.state

/** Why an operation has no result. */
sealed trait Failure

object Failure {

  /** The service refuses the operation. */
  final case class Refused(code: ErrorCode, message: String) extends Failure

  /** The connection broke. The operation may have taken effect. */
  case object NoAnswer extends Failure

  private[simulator] def notFound(message: String): Failure =
    Refused(ErrorCode.ResourceNotFound, message)

  private[simulator] def invalid(message: String): Failure =
    Refused(ErrorCode.InvalidArgument, message)

  private[simulator] def validation(message: String): Failure =
    Refused(ErrorCode.Validation, s"1 validation error detected: $message")
}

/**
 * The error codes of the service.
 *
 * @param name name in a response
 * @param status status of the HTTP response
 */
sealed abstract class ErrorCode(val name: String, val status: Int)

object ErrorCode {
  case object ResourceNotFound extends ErrorCode("ResourceNotFoundException", 400)
  case object ResourceInUse extends ErrorCode("ResourceInUseException", 400)
  case object InvalidArgument extends ErrorCode("InvalidArgumentException", 400)
  case object Validation extends ErrorCode("ValidationException", 400)
  case object ExpiredIterator extends ErrorCode("ExpiredIteratorException", 400)
  case object ExpiredNextToken extends ErrorCode("ExpiredNextTokenException", 400)
  case object LimitExceeded extends ErrorCode("LimitExceededException", 400)
  case object ThroughputExceeded extends ErrorCode("ProvisionedThroughputExceededException", 400)
  case object AccessDenied extends ErrorCode("AccessDeniedException", 400)
  case object ExpiredToken extends ErrorCode("ExpiredTokenException", 400)
  case object KmsThrottling extends ErrorCode("KMSThrottlingException", 400)
  case object ServiceUnavailable extends ErrorCode("ServiceUnavailable", 503)
  case object InternalFailure extends ErrorCode("InternalFailure", 500)
  case object Serialization extends ErrorCode("SerializationException", 400)
  case object UnknownOperation extends ErrorCode("UnknownOperationException", 400)
}
