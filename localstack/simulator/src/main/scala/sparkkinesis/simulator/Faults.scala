package sparkkinesis.simulator

import scala.util.Random

/** What goes wrong with one call. A fault that does not fit the operation changes nothing. */
sealed trait Fault

object Fault {
  case object Throttled extends Fault
  case object ServiceFailure extends Fault
  case object AccessDenied extends Fault

  /** Of `GetRecords`. */
  case object IteratorExpired extends Fault

  /** No connection: the operation did not happen. */
  case object Unreachable extends Fault

  /** The operation happened, and its answer was lost. */
  case object AnswerLost extends Fault

  /** Of `GetRecords`: no records though there may be some; the caller is told to go on. */
  case object EmptyPage extends Fault

  /**
   * Of `PutRecords`: these entries are throttled, the others written.
   *
   * @param fails by the entry's index
   */
  final case class PartialPut(fails: Int => Boolean) extends Fault

  /** Of a subscription (`NextEvent`): the connection breaks in place of the event. */
  case object SubscriptionDropped extends Fault

  /** Of a subscription: the connection breaks in the midst of the event. */
  case object EventTruncated extends Fault
}

/** Asked once before every call. */
trait Faults {
  def apply(operation: Operation[Any]): Option[Fault]
}

object Faults {
  val None: Faults = _ => Option.empty

  /**
   * The same faults for the same calls after the same seed.
   *
   * @param rate the share of calls that go wrong, 0 to 1
   */
  def seeded(seed: Long, rate: Double): Faults = {
    val random = new Random(seed)
    operation =>
      random.synchronized {
        if (random.nextDouble() >= rate) Option.empty
        else {
          val fitting = candidates(operation, random)
          Some(fitting(random.nextInt(fitting.size)))
        }
      }
  }

  private def candidates(operation: Operation[Any], random: Random): Vector[Fault] = {
    val any = Vector(Fault.Throttled, Fault.ServiceFailure, Fault.Unreachable, Fault.AnswerLost)
    operation match {
      case _: GetRecords => any ++ Vector(Fault.IteratorExpired, Fault.EmptyPage)
      case put: PutRecords =>
        val failed = put.entries.indices.filter(_ => random.nextBoolean()).toSet
        any :+ Fault.PartialPut(failed)
      case _: NextEvent =>
        Vector(Fault.ServiceFailure, Fault.SubscriptionDropped, Fault.EventTruncated)
      case _ => any
    }
  }
}
