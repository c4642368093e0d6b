package sparkkinesis.model

/**
 * How a stream selects the shard of a record.
 *
 * @param name the value of `RecordDistributionStrategy` in the API
 */
private[sparkkinesis] sealed abstract class RecordDistribution(val name: String)
    extends Serializable

private[sparkkinesis] object RecordDistribution {

  /**
   * Kinesis distributes records by their hash key. The records of a key are in one shard, in order.
   */
  case object UserPartitionKey extends RecordDistribution("USER_PARTITION_KEY")

  /** The service selects it and ignores all keys, which are optional. On-demand streams only. */
  case object Auto extends RecordDistribution("AUTO")

  val All: Seq[RecordDistribution] = Seq(UserPartitionKey, Auto)
}
