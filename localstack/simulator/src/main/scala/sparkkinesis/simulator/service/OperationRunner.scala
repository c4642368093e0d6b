package sparkkinesis.simulator.service

import sparkkinesis.model.{StreamArn, StreamName, StreamRef}
import sparkkinesis.simulator.fanout.{Subscribed, Turn}
import sparkkinesis.simulator.operation.Operation
import sparkkinesis.simulator.state.Failure

/** Runs operations for the faces that Scala callers use. */
private[simulator] trait OperationRunner {

  /** The result; throws the `KinesisException` that the failure stands for. */
  protected[simulator] def answer[A](operation: Operation[A]): A

  protected[simulator] def nextEvent(subscribed: Subscribed): Either[Failure, Turn]
}

/** Where streams that are named without an ARN are. */
private[simulator] object LocalAccount {
  val Region = "us-east-1"
  val Account = "000000000000"

  def arn(stream: StreamName): StreamArn = StreamArn("aws", Region, Account, stream)

  def arn(stream: StreamRef): StreamArn = stream match {
    case StreamRef.ByName(name) => arn(name)
    case StreamRef.ByArn(arn) => arn
  }
}
