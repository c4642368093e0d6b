package sparkkinesis.model

/**
 * What chooses a record's shard.
 *
 * @param name the service's, of a `RecordDistributionStrategy`
 */
sealed abstract class RecordDistribution(val name: String) extends Serializable

object RecordDistribution {

  /** The record's hash key, so that the records of a key are together, and in order. */
  case object UserPartitionKey extends RecordDistribution("USER_PARTITION_KEY")

  /** The service: it heeds neither key, and records need none. On-demand streams only. */
  case object Auto extends RecordDistribution("AUTO")

  val All: Seq[RecordDistribution] = Seq(UserPartitionKey, Auto)
}
