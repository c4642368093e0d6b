package sparkkinesis.simulator.fault

import scala.concurrent.duration._
import scala.util.Random

import sparkkinesis.simulator.fanout.NextEvent
import sparkkinesis.simulator.listing.{ListMoreShards, ListShards}
import sparkkinesis.simulator.operation.{DescribeStreamSummary, GetRecords, Operation, PutRecords}

/** Decides for each call whether a fault strikes it. Called once per call. */
trait Faults {
  def apply(operation: Operation[Any]): Option[Fault]
}

object Faults {
  val None: Faults = _ => Option.empty

  /**
   * Strikes calls at random with faults that a retry overcomes. A seed and a sequence of calls
   * always give the same faults.
   *
   * @param rate fraction of calls that a fault strikes, 0 to 1
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

  private val retryable = Vector(
    Fault.Throttled,
    Fault.KmsThrottled,
    Fault.ServiceFailure,
    Fault.Unavailable,
    Fault.ConnectionReset,
    Fault.AnswerLost,
    Fault.AnswerTruncated
  )

  private def candidates(operation: Operation[Any], random: Random): Vector[Fault] = {
    val any = retryable :+ Fault.Stalled((1 + random.nextInt(LongestStallMillis)).millis)
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

  /** Longer than a caller waits. */
  private val LongestStallMillis = 40000
}
