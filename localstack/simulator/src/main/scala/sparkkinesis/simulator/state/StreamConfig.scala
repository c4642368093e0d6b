package sparkkinesis.simulator.state

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import sparkkinesis.model.{RecordDistribution, ServiceLimits}

/**
 * The settings of a stream besides its shards.
 *
 * @param maxRecordBytes limit of one record with its partition key: 1 to 10 MiB
 * @param metrics metrics that are measured per shard
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

/** Whether the user or the service decides on the number of shards. */
sealed abstract class StreamMode(val name: String)

object StreamMode {
  case object Provisioned extends StreamMode("PROVISIONED")

  /** The service decides, and refuses calls that change shards. */
  case object OnDemand extends StreamMode("ON_DEMAND")

  val All: Seq[StreamMode] = Seq(Provisioned, OnDemand)
}

/**
 * The encryption setting. Records are only marked as encrypted.
 *
 * @param key key to encrypt with; `None` for no encryption
 * @param from time when the setting takes effect; before it, `before` applies
 */
final case class Encryption(
    key: Option[String],
    from: Instant,
    before: Boolean
) {
  def applies(now: Instant): Boolean = if (now.isBefore(from)) before else key.nonEmpty

  /**
   * The `EncryptionType` of a record that is put now; none without encryption, as in the service.
   */
  def ofRecords(now: Instant): Option[String] = Option.when(applies(now))(Encryption.Kms)
}

object Encryption {
  val Kms = "KMS"
  val Off: Encryption = Encryption(None, Instant.EPOCH, before = false)
}

/** Metrics per shard. They are not measured, but responses name them. */
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
