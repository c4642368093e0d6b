package sparkkinesis.simulator.state

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import sparkkinesis.model.{RecordDistribution, ServiceLimits}

/**
 * What can be changed about a stream besides its shards.
 *
 * @param maxRecordBytes of one record with its partition key: 1 to 10 MiB
 * @param metrics that are measured shard by shard
 * @param tags at most 50
 */
final case class StreamConfig(
    retention: FiniteDuration = ServiceLimits.DefaultRetention,
    maxRecordBytes: Int = ServiceLimits.RecordBytes,
    mode: StreamMode = StreamMode.Provisioned,
    distribution: RecordDistribution = RecordDistribution.UserPartitionKey,
    encryption: Encryption = Encryption.Off,
    metrics: Seq[ShardMetric] = Nil,
    tags: SortedMap[String, String] = SortedMap.empty
)

/** Who decides how many shards a stream has. */
sealed abstract class StreamMode(val name: String)

object StreamMode {
  case object Provisioned extends StreamMode("PROVISIONED")

  /** The service does; calls that change shards are refused. */
  case object OnDemand extends StreamMode("ON_DEMAND")

  val All: Seq[StreamMode] = Seq(Provisioned, OnDemand)
}

/**
 * Records are not really encrypted: they say that they were.
 *
 * @param key what it is asked to encrypt with; `None` for not at all
 * @param from when that begins; until then it is as `before` says
 */
final case class Encryption(
    key: Option[String],
    from: Instant,
    before: Boolean
) {
  def applies(now: Instant): Boolean = if (now.isBefore(from)) before else key.nonEmpty

  /** The `EncryptionType` of a record put now; the service names none where it does nothing. */
  def ofRecords(now: Instant): Option[String] = Option.when(applies(now))(Encryption.Kms)
}

object Encryption {
  val Kms = "KMS"
  val Off: Encryption = Encryption(None, Instant.EPOCH, before = false)
}

/** What can be measured of each shard; nothing is, but the service's answers name them. */
sealed abstract class ShardMetric extends Product with Serializable {
  def name: String = productPrefix
}

object ShardMetric {
  case object IncomingBytes extends ShardMetric
  case object IncomingRecords extends ShardMetric
  case object OutgoingBytes extends ShardMetric
  case object OutgoingRecords extends ShardMetric
  case object WriteProvisionedThroughputExceeded extends ShardMetric
  case object ReadProvisionedThroughputExceeded extends ShardMetric
  case object IteratorAgeMilliseconds extends ShardMetric

  val All: Seq[ShardMetric] = Seq(
    IncomingBytes,
    IncomingRecords,
    OutgoingBytes,
    OutgoingRecords,
    WriteProvisionedThroughputExceeded,
    ReadProvisionedThroughputExceeded,
    IteratorAgeMilliseconds
  )
}
