package sparkkinesis.spark.read.realtime

import org.apache.spark.sql.connector.read.InputPartition
import org.apache.spark.sql.connector.read.streaming.PartitionOffset

import sparkkinesis.source.realtime.{RealTimeStart, TaskEnd}

/**
 * The shards that one task reads as long as its batch lasts.
 *
 * @param batch number of the batch within the run, from 1
 * @param locations the executor that reads the shards already, if there is one
 */
private[sparkkinesis] final case class RealTimePartition(
    batch: Long,
    starts: Seq[RealTimeStart],
    locations: Seq[String]
) extends InputPartition {
  override def preferredLocations: Array[String] = locations.toArray
}

/** Where a task has ended, as Spark passes it to the driver. */
private[sparkkinesis] final case class RealTimeEnd(end: TaskEnd) extends PartitionOffset
