package sparkkinesis.simulator.fault

import sparkkinesis.model.{ShardId, StreamName}
import sparkkinesis.simulator.operation.Operation

/**
 * When a fault strikes: at the calls it fits and that all of operation, stream and shard match.
 *
 * @param operation by the service's name
 * @param stream of any region
 * @param shard of calls that name one, themselves or by an iterator; puts name none
 * @param times how often it strikes; without it, until the rule is removed
 * @param rate the chance at each matching call, 0 to 1
 * @param skip matching calls that pass first
 * @param seed of that chance
 */
final case class FaultRule(
    fault: Fault,
    operation: Option[String] = None,
    stream: Option[StreamName] = None,
    shard: Option[ShardId] = None,
    times: Option[Int] = None,
    rate: Double = 1,
    skip: Int = 0,
    seed: Long = 0
) {
  require(times.forall(_ >= 1), s"times is ${times.mkString}: expected 1 or more.")
  require(rate >= 0 && rate <= 1, s"rate is $rate: expected 0 to 1.")
  require(skip >= 0, s"skip is $skip: expected 0 or more.")

  private[simulator] def matches(call: Operation[Any]): Boolean =
    fault.fits(call) && operation.forall(_ == call.name) &&
      stream.forall(name => call.subject.stream.exists(_.name == name)) &&
      shard.forall(call.subject.shard.contains)
}
