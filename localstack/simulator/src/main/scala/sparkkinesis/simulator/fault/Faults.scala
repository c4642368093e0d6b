package sparkkinesis.simulator.fault

import scala.concurrent.duration._
import scala.util.Random

import sparkkinesis.simulator.fanout.NextEvent
import sparkkinesis.simulator.listing.{ListMoreShards, ListShards}
import sparkkinesis.simulator.operation.{DescribeStreamSummary, GetRecords, Operation, PutRecords}

/** Asked once before every call. */
trait Faults {
  def apply(operation: Operation[Any]): Option[Fault]
}

object Faults {
  val None: Faults = _ => Option.empty

  /**
   * The same faults for the same calls after the same seed: all of those that a caller can get over
   * by asking again.
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

  private val passing = Vector(
    Fault.Throttled,
    Fault.KmsThrottled,
    Fault.ServiceFailure,
    Fault.Unavailable,
    Fault.ConnectionReset,
    Fault.AnswerLost,
    Fault.AnswerTruncated
  )

  private def candidates(operation: Operation[Any], random: Random): Vector[Fault] = {
    val any = passing :+ Fault.Stalled((1 + random.nextInt(LongestStallMillis)).millis)
    operation match {
      case _: GetRecords => any ++ Vector(Fault.IteratorExpired, Fault.EmptyPage)
      case put: PutRecords =>
        val failed = put.entries.indices.filter(_ => random.nextBoolean()).toSet
        any :+ Fault.PartialPut(_ => failed)
      case _: ListShards | _: ListMoreShards | _: DescribeStreamSummary =>
        any :+ Fault.LimitExceeded
      case _: NextEvent =>
        Vector(Fault.ServiceFailure, Fault.SubscriptionDropped, Fault.EventTruncated)
      case _ => any
    }
  }

  /** Beyond what a caller waits for. */
  private val LongestStallMillis = 40000
}
