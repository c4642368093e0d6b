package sparkkinesis.spark.read.task

import org.apache.spark.sql.connector.read.InputPartition

import sparkkinesis.shard.ShardRange

/**
 * The ranges that one task reads, each in order.
 *
 * @param locations the executor that holds their pages, if there is one
 */
private[sparkkinesis] final case class KinesisInputPartition(
    ranges: Seq[ShardRange],
    locations: Seq[String]
) extends InputPartition {
  override def preferredLocations: Array[String] = locations.toArray
}
