package sparkkinesis.simulator.fault

import scala.concurrent.duration.FiniteDuration
import scala.util.Random

import sparkkinesis.simulator.fanout.NextEvent
import sparkkinesis.simulator.operation.Operation
import sparkkinesis.simulator.state.ErrorCode

/**
 * A fault of one call. A fault that does not apply to the operation has no effect.
 *
 * @param name name in scripts
 * @param operations the operations that it applies to; none means all
 */
sealed abstract class Fault(val name: String, val operations: String*) {
  private[simulator] def fits(operation: Operation[Any]): Boolean = operation match {
    case _: NextEvent => false
    case _ => operations.isEmpty || operations.contains(operation.name)
  }
}

object Fault {

  /** The service refuses the operation, which has no effect. */
  sealed abstract class Refusal(name: String, val code: ErrorCode, operations: String*)
      extends Fault(name, operations: _*)

  case object Throttled extends Refusal("throttle", ErrorCode.ThroughputExceeded)
  case object KmsThrottled extends Refusal("kms-throttled", ErrorCode.KmsThrottling)
  case object LimitExceeded extends Refusal("limit-exceeded", ErrorCode.LimitExceeded)
  case object ServiceFailure extends Refusal("internal-failure", ErrorCode.InternalFailure)
  case object Unavailable extends Refusal("unavailable", ErrorCode.ServiceUnavailable)
  case object AccessDenied extends Refusal("access-denied", ErrorCode.AccessDenied)

  /** The session token of the credentials has expired. */
  case object TokenExpired extends Refusal("expired-token", ErrorCode.ExpiredToken)
  case object IteratorExpired
      extends Refusal("expired-iterator", ErrorCode.ExpiredIterator, "GetRecords")

  /** A fault of the connection between caller and service. */
  sealed abstract class OfConnection(name: String) extends Fault(name)

  /** The connection breaks before the operation, which has no effect. */
  case object ConnectionReset extends OfConnection("reset")

  /** The operation has its effect, and its response is lost, as in a timeout after a write. */
  case object AnswerLost extends OfConnection("answer-lost")

  /** The operation has its effect, and half of its response arrives. */
  case object AnswerTruncated extends OfConnection("truncate")

  /** The operation has its effect at once, and its response arrives later by `time`. */
  final case class Stalled(time: FiniteDuration) extends OfConnection(Stalled.Name)

  object Stalled {
    val Name = "stall"
  }

  /** The page has no records, and its next iterator is at the same position. */
  case object EmptyPage extends Fault("empty-page", "GetRecords")

  /**
   * Throttles some entries, and lets the others be written.
   *
   * @param failing returns the indexes of the entries that fail, given the number of entries
   */
  final case class PartialPut(failing: Int => Set[Int]) extends Fault(PartialPut.Name, "PutRecords")

  object PartialPut {
    val Name = "partial-put"

    /** Half of the entries fail, rounded up, chosen at random for each call. */
    def half(random: Random): PartialPut = PartialPut { count =>
      random.shuffle((0 until count).toVector).take((count + 1) / 2).toSet
    }
  }

  /** The records are written, and the response names the shard with the next number. */
  case object WrongShard extends Fault("wrong-shard", "PutRecord", "PutRecords")

  /** The stream is deleted and created again with as many shards, before the operation. */
  case object StreamRecreated extends Fault("recreate-stream")

  /** A fault of the events of a subscription. Its call succeeds. */
  sealed abstract class OfSubscription(name: String) extends Fault(name, "SubscribeToShard") {
    private[simulator] override def fits(operation: Operation[Any]): Boolean =
      operation.isInstanceOf[NextEvent]
  }

  /** The connection breaks before the next event. */
  case object SubscriptionDropped extends OfSubscription("drop-subscription")

  /** The connection breaks within the next event. */
  case object EventTruncated extends OfSubscription("truncate-event")

  /** The faults without parameters. */
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
