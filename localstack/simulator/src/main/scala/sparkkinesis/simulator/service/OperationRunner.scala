package sparkkinesis.simulator.service

import java.time.Instant

import sparkkinesis.model.{StreamArn, StreamName, StreamRef}
import sparkkinesis.simulator.fanout.{Subscribed, SubscriptionStep}
import sparkkinesis.simulator.operation.Operation
import sparkkinesis.simulator.state.Failure

/** Runs operations for Scala callers. */
private[simulator] trait OperationRunner {

  /** The service's time. */
  def now: Instant

  /** Returns the result, or throws the `KinesisException` that matches the failure. */
  protected[simulator] def answer[A](operation: Operation[A]): A

  protected[simulator] def nextEvent(subscribed: Subscribed): Either[Failure, SubscriptionStep]
}

/** The account and region of streams that are given without an ARN. */
private[simulator] object LocalAccount {
  val Region = "us-east-1"
  val Account = "000000000000"

  def arn(stream: StreamName): StreamArn = StreamArn("aws", Region, Account, stream)

  def arn(stream: StreamRef): StreamArn = stream match {
    case StreamRef.ByName(name) => arn(name)
    case StreamRef.ByArn(arn) => arn
  }
}
