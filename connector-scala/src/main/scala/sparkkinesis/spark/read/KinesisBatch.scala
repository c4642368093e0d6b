package sparkkinesis.spark.read

import scala.util.Using

import org.apache.spark.SparkContext
import org.apache.spark.sql.connector.read.{Batch, InputPartition, PartitionReaderFactory}

import sparkkinesis.client.aws.ClientPool
import sparkkinesis.client.options.OptionException
import sparkkinesis.client.{StreamAccess, SystemClock}
import sparkkinesis.model.StreamArn
import sparkkinesis.source.StreamClient
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.source.plan.{LocatedRange, RangePacking}
import sparkkinesis.source.position.StartingPosition
import sparkkinesis.source.protocol.ShardRange
import sparkkinesis.source.replay.{BatchReadPlanner, ReadBounds}
import sparkkinesis.spark.errors.ConnectorError

/** A batch read: planned once, so that each of its attempts reads the same. */
final class KinesisBatch(options: SourceOptions, bounds: ReadBounds) extends Batch {
  import KinesisBatch._

  private lazy val plan: Plan = ConnectorError.translating {
    checkOptions(options)
    val wanted = options.streams.filter(it => bounds.streams.forall(_(it.ref.name.name)))
    val plans = wanted.map(planned)
    Plan(plans.map(_._1).toMap, plans.flatMap(_._2))
  }

  private def planned(access: StreamAccess): ((StreamArn, StreamAccess), Seq[ShardRange]) =
    Using.resource(ClientPool.shared.borrow(access.client)) { lease =>
      val read = new BatchReadPlanner(
        StreamClient(access.ref, lease.client),
        options.batchStart(access.ref),
        options.batchEnd(access.ref),
        bounds,
        options.failOnDataLoss,
        SystemClock,
        FetchRun.chance
      )
      (read.arn -> access) -> read.ranges()
    }

  override def planInputPartitions(): Array[InputPartition] = {
    val slots = SparkContext.getOrCreate().defaultParallelism
    RangePacking
      .pack(
        plan.ranges.map(LocatedRange(_, Option.empty[String], Vector.empty)).toVector,
        slots * TasksASlot
      )
      .map { case (_, ranges) => KinesisInputPartition(ranges, Nil): InputPartition }
      .toArray
  }

  override def createReaderFactory(): PartitionReaderFactory =
    KinesisBatchReaderFactory(options, plan.streams)
}

object KinesisBatch {

  /** Shards differ in size, and a failed task is read again as a whole. */
  private val TasksASlot = 4
  private val OfStreaming = Seq("maxRecordsPerTrigger", "maxBytesPerTrigger")

  private final case class Plan(streams: Map[StreamArn, StreamAccess], ranges: Seq[ShardRange])

  private def checkOptions(options: SourceOptions): Unit = {
    if (!options.fetch.limits.isUnlimited)
      throw new OptionException(
        OptionException.ConflictingOptions,
        s"${OfStreaming.mkString("'", "' and '", "'")} limit the batches of a streaming query, and " +
          "this is a batch read. Leave them out; 'endingPosition' says where it ends."
      )
    val isLatest =
      options.start.exists(_.values.exists(_.all.forall(_ == StartingPosition.Latest)))
    if (isLatest)
      throw new OptionException(
        OptionException.ConflictingOptions,
        "Option 'startingPosition' is 'latest', where a batch read has nothing to read. Begin it at " +
          "'trim_horizon' or an instant, or read with spark.readStream."
      )
  }
}
