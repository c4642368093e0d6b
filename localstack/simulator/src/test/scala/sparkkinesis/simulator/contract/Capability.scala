package sparkkinesis.simulator.contract

import scala.concurrent.duration.FiniteDuration

/**
 * What a service can do, seen by its contract.
 *
 * @param advance moves the service's time, where it can be moved
 * @param lacks what it is known not to do; the default is AWS's
 */
final case class Capabilities(
    advance: Option[FiniteDuration => Unit] = None,
    lacks: Set[Capability] = Set(Capability.SmallShardPages)
) {
  def has(capability: Capability): Boolean = capability match {
    case Capability.MovesTime => advance.nonEmpty
    case other => !lacks(other)
  }
}

/**
 * What a service may do wrong, or a test not see of it. README.md says what, under the same name.
 *
 * @param isTried rules that need it are tried where it is lacking: they fail soon, and hurt nothing
 */
sealed abstract class Capability(val isTried: Boolean = true)

object Capability {

  /** Its time can be moved. */
  case object MovesTime extends Capability(isTried = false)

  /** Pages of `ListShards` are so small that tests see several. */
  case object SmallShardPages extends Capability

  /** Requests of 501 records or over 10 MiB are refused. */
  case object LimitsPutRecords extends Capability

  /** They count to the size of a record. */
  case object CountsPartitionKeys extends Capability

  /** The shards of a new stream have ranges equal to the key. */
  case object StartsEvenly extends Capability

  /** `NextToken` of `ListStreams` leads from page to page. */
  case object PagesStreams extends Capability

  /** `UpdateShardCount` leaves shards of equal ranges. */
  case object ScalesEvenly extends Capability

  /** A split at a shard's first hash key is refused. */
  case object RefusesEmptySplits extends Capability

  /** Calls that change an on-demand stream's shards are refused. */
  case object KeepsOnDemandShards extends Capability

  /** On-demand streams can be told to choose shards by themselves. */
  case object DistributesRecords extends Capability

  /** The limits of throughput and of call rates are kept. */
  case object Quotas extends Capability

  /** What is no iterator is an invalid argument, not a failure. */
  case object RefusesForeignIterators extends Capability

  /** The pages of `ListStreamConsumers` together have every consumer. */
  case object PagesConsumers extends Capability

  /** What is deregistered is the stream's own consumer of the name: else one waits in vain. */
  case object DeregistersFromStream extends Capability(isTried = false)

  /** Events of a subscription have about 1 MiB at most. */
  case object SizesEvents extends Capability

  /** A subscription ends with its shard, stream or consumer: else one waits in vain. */
  case object EndsSubscriptions extends Capability(isTried = false)

  /** A second subscription within five seconds of the first is refused. */
  case object RefusesEarlySubscriptions extends Capability

  /** A subscription to an unknown shard is refused. */
  case object ChecksShardOfSubscription extends Capability
}
