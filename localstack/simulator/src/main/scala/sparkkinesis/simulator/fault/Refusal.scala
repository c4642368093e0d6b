package sparkkinesis.simulator.fault

import sparkkinesis.client.KinesisException
import sparkkinesis.simulator.operation.Operation
import sparkkinesis.simulator.state.{ErrorCode, Failure}

/** Converts a failed operation to the exception of the port. */
private[simulator] object Refusal {
  def exception(
      operation: Operation[Any],
      failure: Failure
  ): KinesisException =
    failure match {
      case Failure.NoAnswer =>
        new KinesisException.Unreachable(s"${operation.name}: the connection broke.")
      case Failure.Refused(code, said) => refusal(code, s"${operation.name}: ${code.name}: $said")
    }

  private def refusal(code: ErrorCode, message: String): KinesisException = code match {
    case ErrorCode.ResourceNotFound => new KinesisException.NotFound(message)
    case ErrorCode.ResourceInUse => new KinesisException.InUse(message)
    case ErrorCode.InvalidArgument | ErrorCode.Validation =>
      new KinesisException.InvalidArgument(message)
    case ErrorCode.ExpiredIterator => new KinesisException.IteratorExpired(message)
    case ErrorCode.ExpiredNextToken => new KinesisException.ListingExpired(message)
    case ErrorCode.LimitExceeded => new KinesisException.LimitExceeded(message)
    case ErrorCode.ThroughputExceeded | ErrorCode.KmsThrottling =>
      new KinesisException.Throttled(message)
    case ErrorCode.AccessDenied => new KinesisException.AccessDenied(message)
    case ErrorCode.ExpiredToken => new KinesisException.CredentialsExpired(message)
    case ErrorCode.InternalFailure | ErrorCode.ServiceUnavailable =>
      new KinesisException.ServiceFailure(message)
    case ErrorCode.Serialization | ErrorCode.UnknownOperation => new KinesisException.Other(message)
  }
}
