package sparkkinesis.simulator.fault

import sparkkinesis.model.{ShardId, StreamName}
import sparkkinesis.simulator.operation.Operation

/**
 * Decides which calls a fault strikes: those that it applies to and that match all parameters.
 *
 * @param operation name of the operation
 * @param stream name of the stream, in any region
 * @param shard shard of a read or an iterator; puts have none
 * @param times maximum number of strikes; `None` means until the rule is removed
 * @param rate probability for each matching call, 0 to 1
 * @param skip number of matching calls that pass first
 * @param seed seed of the probability
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
