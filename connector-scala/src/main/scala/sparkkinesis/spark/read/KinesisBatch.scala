package sparkkinesis.spark.read

import scala.util.Using

import org.apache.spark.SparkContext
import org.apache.spark.sql.connector.read.{Batch, InputPartition, PartitionReaderFactory}

import sparkkinesis.client.aws.ClientPool
import sparkkinesis.client.options.OptionException
import sparkkinesis.client.{StreamAccess, SystemClock}
import sparkkinesis.model.{Position, StreamArn}
import sparkkinesis.shard.StreamClient
import sparkkinesis.source.checkpoint.{ConsumerClaims, ConsumerRegistration}
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.source.plan.RangePacking
import sparkkinesis.source.replay.{BatchReadPlanner, ReadBounds}
import sparkkinesis.spark.errors.ConnectorError
import sparkkinesis.spark.read.checkpoint.{BatchPlan, Replay}
import sparkkinesis.spark.read.task.{KinesisBatchReaderFactory, KinesisInputPartition}

/**
 * A batch read or a replay, on the driver. Planned once, so that all attempts read the same
 * records.
 */
private[sparkkinesis] final class KinesisBatch(options: SourceOptions, bounds: ReadBounds)
    extends Batch {
  import KinesisBatch._

  private val replay = options.replay.map(new Replay(options, _, bounds))
  @volatile private var streams = Iterable.empty[StreamArn]
  private lazy val plan = ConnectorError.translating {
    val made = replay.fold(planned())(_.plan())
    streams = made.streams.keys
    made
  }

  /** The streams of the read; none before it is planned. */
  def plannedStreams: Iterable[StreamArn] = streams

  private def planned(): BatchPlan = {
    checkOptions(options)
    val wanted = options.streams.filter(it => bounds.streams.forall(_(it.ref.name.name)))
    val (each, planners) = wanted.map(planned).unzip
    planners.foreach(_.awaitPassed()) // of all streams at the same time
    BatchPlan(
      each.flatMap(_.ranges),
      each.flatMap(_.streams).toMap,
      each.flatMap(_.consumers).toMap
    )
  }

  private def planned(access: StreamAccess): (BatchPlan, BatchReadPlanner) =
    Using.resource(ClientPool.shared.borrow(access.client)) { loan =>
      val read = new BatchReadPlanner(
        StreamClient(access.ref, loan.value),
        options.batchStart(access.ref),
        options.batchEnd(access.ref),
        bounds,
        options.failOnDataLoss,
        SystemClock
      )
      val consumer =
        new ConsumerRegistration(loan.value, access.ref, read.arn, SystemClock)
          .active(options.consumer)
      ConsumerClaims.check(consumer) // a streaming query would lose its subscriptions
      val streams = Map(read.arn -> access)
      BatchPlan(read.ranges(), streams, consumer.map(read.arn -> _).toMap) -> read
    }

  override def planInputPartitions(): Array[InputPartition] = {
    val slots = SparkContext.getOrCreate().defaultParallelism
    RangePacking
      .evenly(plan.ranges.toVector, slots * TasksPerSlot)
      .map(KinesisInputPartition(_, Nil): InputPartition)
      .toArray
  }

  override def createReaderFactory(): PartitionReaderFactory =
    KinesisBatchReaderFactory(options, plan.streams, plan.consumers)
}

private[sparkkinesis] object KinesisBatch {

  /**
   * Tasks per slot: more than one, because shards differ in size, and Spark repeats a failed task
   * as a whole.
   */
  private val TasksPerSlot = 4

  private def checkOptions(options: SourceOptions): Unit = {
    if (!options.fetch.limits.isUnlimited || options.fetch.maxShardSkew.nonEmpty) {
      val limits = SourceOptions.OfMicroBatches.map(it => s"'${it.name}'").mkString(", ")
      throw OptionException.conflicting(
        s"Options $limits limit micro-batches, and this is a batch read. Remove them. Option " +
          "'endingPosition' sets the end of a batch read."
      )
    }
    val isLatest =
      options.start.exists(_.values.exists(_.all.forall(_ == Position.Latest)))
    if (isLatest)
      throw OptionException.conflicting(
        "Option 'startingPosition' is 'latest', so that the batch read would be empty. Set it to " +
          "'trim_horizon' or an instant, or read with spark.readStream."
      )
  }
}
