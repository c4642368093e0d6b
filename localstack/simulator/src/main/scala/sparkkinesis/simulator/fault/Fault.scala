package sparkkinesis.simulator.fault

import scala.concurrent.duration.FiniteDuration
import scala.util.Random

import sparkkinesis.simulator.fanout.NextEvent
import sparkkinesis.simulator.operation.Operation
import sparkkinesis.simulator.state.ErrorCode

/**
 * What goes wrong with one call. A fault that does not fit the operation changes nothing.
 *
 * @param name in scripts
 * @param operations that it fits, by the service's names; none for all
 */
sealed abstract class Fault(val name: String, val operations: String*) {
  private[simulator] def fits(operation: Operation[Any]): Boolean = operation match {
    case _: NextEvent => false
    case _ => operations.isEmpty || operations.contains(operation.name)
  }
}

object Fault {

  /** The service says no: the operation does not happen. */
  sealed abstract class Refusal(name: String, val code: ErrorCode, operations: String*)
      extends Fault(name, operations: _*)

  case object Throttled extends Refusal("throttle", ErrorCode.ThroughputExceeded)
  case object KmsThrottled extends Refusal("kms-throttled", ErrorCode.KmsThrottling)
  case object LimitExceeded extends Refusal("limit-exceeded", ErrorCode.LimitExceeded)
  case object ServiceFailure extends Refusal("internal-failure", ErrorCode.InternalFailure)
  case object Unavailable extends Refusal("unavailable", ErrorCode.ServiceUnavailable)
  case object AccessDenied extends Refusal("access-denied", ErrorCode.AccessDenied)

  /** The session token of the credentials. */
  case object TokenExpired extends Refusal("expired-token", ErrorCode.ExpiredToken)
  case object IteratorExpired
      extends Refusal("expired-iterator", ErrorCode.ExpiredIterator, "GetRecords")

  /** Of the way between the caller and the service. */
  sealed abstract class OfConnection(name: String) extends Fault(name)

  /** The connection broke before the operation, which did not happen. */
  case object ConnectionReset extends OfConnection("reset")

  /** The operation happened, and its answer was lost: what a timeout after a write looks like. */
  case object AnswerLost extends OfConnection("answer-lost")

  /** The operation happened, and half of its answer arrived. */
  case object AnswerTruncated extends OfConnection("truncate")

  /** The operation happened at once, and its answer comes so much later. */
  final case class Stalled(time: FiniteDuration) extends OfConnection(Stalled.Name)

  object Stalled {
    val Name = "stall"
  }

  /** No records though there may be some; the caller is told to go on. */
  case object EmptyPage extends Fault("empty-page", "GetRecords")

  /**
   * Some entries are throttled, the others written.
   *
   * @param failing the indexes of those that fail, of so many entries
   */
  final case class PartialPut(failing: Int => Set[Int]) extends Fault(PartialPut.Name, "PutRecords")

  object PartialPut {
    val Name = "partial-put"

    /** Half of the entries, rounded up; others each time. */
    def half(random: Random): PartialPut = PartialPut { count =>
      random.shuffle((0 until count).toVector).take((count + 1) / 2).toSet
    }
  }

  /** The records are written, and the answer names the shard of the next number, if any has it. */
  case object WrongShard extends Fault("wrong-shard", "PutRecord", "PutRecords")

  /** The stream is deleted, and made again with as many shards, before the operation. */
  case object StreamRecreated extends Fault("recreate-stream")

  /** Of a subscription's events; the call itself is answered. */
  sealed abstract class OfSubscription(name: String) extends Fault(name, "SubscribeToShard") {
    private[simulator] override def fits(operation: Operation[Any]): Boolean =
      operation.isInstanceOf[NextEvent]
  }

  /** The connection breaks in place of the next event. */
  case object SubscriptionDropped extends OfSubscription("drop-subscription")

  /** The connection breaks in the midst of the next event. */
  case object EventTruncated extends OfSubscription("truncate-event")

  /** Those that need no more than their name. */
  val simple: Seq[Fault] = Seq(
    Throttled,
    KmsThrottled,
    LimitExceeded,
    ServiceFailure,
    Unavailable,
    AccessDenied,
    TokenExpired,
    IteratorExpired,
    ConnectionReset,
    AnswerLost,
    AnswerTruncated,
    EmptyPage,
    WrongShard,
    StreamRecreated,
    SubscriptionDropped,
    EventTruncated
  )
}
