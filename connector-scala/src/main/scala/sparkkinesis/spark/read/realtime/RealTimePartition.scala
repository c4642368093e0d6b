package sparkkinesis.spark.read.realtime

import org.apache.spark.sql.connector.read.InputPartition
import org.apache.spark.sql.connector.read.streaming.PartitionOffset

import sparkkinesis.source.realtime.{ShardEndpoint, ShardStart}

/**
 * The shards that one task reads as long as its batch lasts.
 *
 * @param batch number of the batch within the run, from 1
 * @param locations the executor that reads the shards already, if there is one
 */
final case class RealTimePartition(batch: Long, starts: Seq[ShardStart], locations: Seq[String])
    extends InputPartition {
  override def preferredLocations: Array[String] = locations.toArray
}

/**
 * Where a task has ended.
 *
 * @param hasRun whether Spark asked the task for a row before the end of the batch
 * @param isRetry whether an earlier attempt of the task has failed
 */
final case class RealTimeEnd(ends: Seq[ShardEndpoint], hasRun: Boolean, isRetry: Boolean)
    extends PartitionOffset
