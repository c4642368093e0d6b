package sparkkinesis.simulator.contract

import scala.concurrent.duration.FiniteDuration

/**
 * The capabilities of a service.
 *
 * @param advance moves the service's time, if that is possible
 * @param lacks known differences from the contract; AWS has none
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
 * A known difference of a service, or something that its tests cannot see. README.md describes it
 * under the same name.
 *
 * @param isTried whether its rules are run even if it is missing, because they fail within seconds
 *   and do no harm
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

  /** On-demand streams can have the distribution strategy AUTO. */
  case object DistributesRecords extends Capability

  /** The limits of throughput and of call rates apply. */
  case object Quotas extends Capability

  /** An invalid iterator is an invalid argument, not a failure of the service. */
  case object RefusesForeignIterators extends Capability

  /** The pages of `ListStreamConsumers` together have every consumer. */
  case object PagesConsumers extends Capability

  /**
   * Deregistering removes the consumer of the named stream, not one with the same name elsewhere.
   */
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
