package sparkkinesis.simulator.quota

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.model.ServiceLimits
import sparkkinesis.simulator.state.{ErrorCode, WriteQuota}

/**
 * One limit of the service.
 *
 * @param name operation or group of operations that share the limit
 * @param scope the limit counts separately for each of these
 * @param code error code of a refused call
 * @param fresh the meter before any use
 * @param countsRefusals whether a call that fails for another reason counts
 */
private[simulator] final case class Quota(
    name: String,
    scope: Scope,
    code: ErrorCode,
    fresh: Instant => Meter,
    countsRefusals: Boolean = false
) {

  /** What the error names: the shard if the limit counts per shard, otherwise the stream. */
  def named: Scope = scope match {
    case Scope.Account | Scope.Stream => Scope.Stream
    case Scope.Shard | Scope.Subscription => Scope.Shard
  }
}

/** What a limit counts separately. Regions and accounts are always separate. */
private[simulator] sealed trait Scope

private[simulator] object Scope {
  case object Account extends Scope
  case object Stream extends Scope
  case object Shard extends Scope

  /** A consumer's subscriptions to one shard. */
  case object Subscription extends Scope
}

/**
 * The limits. Their sources are the API reference of each operation and
 * [[https://docs.aws.amazon.com/streams/latest/dev/service-sizes-and-limits.html Quotas]]. Other
 * operations have no limit.
 */
private[simulator] object Quota {

  /** The limit that `PutRecord` and `PutRecords` share. */
  def writes(by: WriteQuota): Quota =
    Quota("Write", Scope.Shard, ErrorCode.ThroughputExceeded, WriteMeters.fresh(by))

  private val Reads: Quota = Quota(
    "GetRecords",
    Scope.Shard,
    ErrorCode.ThroughputExceeded,
    now =>
      Meter.Reads(
        Bucket.full((1.second / ServiceLimits.GetRecordsPeriod).toLong, now),
        Bucket.full(ServiceLimits.ReadBytesPerSecond, now)
      )
  )

  /** The limits of all other operations, by name. */
  val byOperation: Map[String, Quota] = Seq(
    Reads,
    calls("GetShardIterator", 5, Scope.Shard)
      .copy(code = ErrorCode.ThroughputExceeded, countsRefusals = false),
    calls("ListShards", 1000, Scope.Stream),
    calls("DescribeStream", 10, Scope.Account),
    calls("DescribeStreamSummary", 20, Scope.Account),
    calls("DescribeLimits", 1, Scope.Account),
    calls("ListStreams", 5, Scope.Account),
    calls("CreateStream", 5, Scope.Account),
    calls("DeleteStream", 5, Scope.Account),
    calls("SplitShard", 5, Scope.Account),
    calls("MergeShards", 5, Scope.Account),
    calls("IncreaseStreamRetentionPeriod", 5, Scope.Account),
    calls("DecreaseStreamRetentionPeriod", 5, Scope.Account),
    calls("AddTagsToStream", 5, Scope.Account),
    calls("RemoveTagsFromStream", 5, Scope.Account),
    calls("ListTagsForStream", 5, Scope.Account),
    calls("TagResource", 5, Scope.Account),
    calls("UntagResource", 5, Scope.Account),
    calls("ListTagsForResource", 5, Scope.Account),
    calls("UpdateMaxRecordSize", 5, Scope.Account),
    calls("UpdateStreamRecordDistributionStrategy", 5, Scope.Account),
    calls("EnableEnhancedMonitoring", 5, Scope.Account),
    calls("DisableEnhancedMonitoring", 5, Scope.Account),
    daily("UpdateShardCount", 10),
    daily("UpdateStreamMode", 2),
    daily("StartStreamEncryption", 25),
    daily("StopStreamEncryption", 25),
    calls("RegisterStreamConsumer", 5, Scope.Account),
    calls("DeregisterStreamConsumer", 5, Scope.Stream),
    calls("DescribeStreamConsumer", 20, Scope.Stream),
    calls("ListStreamConsumers", 5, Scope.Stream),
    calls("SubscribeToShard", 1, Scope.Subscription)
  ).map(quota => quota.name -> quota).toMap

  private def calls(name: String, perSecond: Long, scope: Scope): Quota =
    Quota(
      name,
      scope,
      ErrorCode.LimitExceeded,
      now => Meter.Calls(Bucket.full(perSecond, now)),
      countsRefusals = true
    )

  /** Successful calls per stream in any 24 hours. */
  private def daily(name: String, limit: Int): Quota = Quota(
    name,
    Scope.Stream,
    ErrorCode.LimitExceeded,
    _ => Meter.Rolling(limit, 24.hours, Vector.empty)
  )
}
