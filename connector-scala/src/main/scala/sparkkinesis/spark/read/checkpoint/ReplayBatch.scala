package sparkkinesis.spark.read.checkpoint

import scala.collection.immutable.SortedSet

import org.slf4j.LoggerFactory

import org.apache.spark.SparkContext
import org.apache.spark.sql.connector.read.{Batch, InputPartition, PartitionReaderFactory}

import sparkkinesis.client.aws.ClientPool
import sparkkinesis.client.{StreamAccess, SystemClock}
import sparkkinesis.model.StreamArn
import sparkkinesis.source.checkpoint.{LoggedBatches, QueryStream}
import sparkkinesis.source.options.{BatchNumbers, ReplayOptions, SourceOptions}
import sparkkinesis.source.plan.RangePacking
import sparkkinesis.source.replay.{LoggedBatch, ReadBounds, ReplayPlan, ReplayRange}
import sparkkinesis.spark.errors.ConnectorError
import sparkkinesis.spark.read.task.{ReplayPartition, ReplayReaderFactory}

/** Reads micro-batches of a streaming query again, as its checkpoint has them. On the driver. */
final class ReplayBatch(options: SourceOptions, replay: ReplayOptions, bounds: ReadBounds)
    extends Batch {
  import ReplayBatch._

  private val log = LoggerFactory.getLogger(classOf[ReplayBatch])
  private val conf = SessionFiles.conf()
  private lazy val plan = ConnectorError.translating {
    val batches = logged(new CheckpointFiles(replay.checkpoint, conf))
    checked(batches, ReplayPlan.of(batches))
  }

  private def logged(files: CheckpointFiles): Seq[LoggedBatch] = {
    files.logged().check(replay.batches)
    val ends = replay.batches.toSeq.map(number => number -> files.end(number))
    val starts = replay.batches.toSeq
      .map(_ - 1)
      .filter(_ >= 0)
      .map(number => number -> files.offsets(number))
      .toMap
    val source = LoggedBatches.source(replay.checkpoint, ends.map(_._2), replay.source)
    warnOfPending(replay.batches.diff(files.committed()))
    for {
      (number, offsets) <- ends
      end <- offsets.of(source)
    } yield {
      val start = starts.get(number - 1).flatMap(_.of(source))
      LoggedBatch(number, start.getOrElse(files.initial(source)), end)
    }
  }

  private def warnOfPending(pending: SortedSet[Long]): Unit =
    if (pending.nonEmpty)
      log.warn(
        s"Checkpoint ${replay.checkpoint} does not say that batch ${BatchNumbers.text(pending)} " +
          "is complete. Its records are fixed, but the query may not have processed all of them " +
          "yet."
      )

  private def checked(batches: Seq[LoggedBatch], all: Seq[ReplayRange]): Plan = {
    val loans = ClientPool.shared.borrowAll(options.streams.map(_.client))
    try {
      val streams = new ReplayedStreams(options.streams.zip(loans).map { case (access, loan) =>
        val start = options.queryStart(access.ref)
        new QueryStream(access, loan.value, start, SystemClock).describe()
      })
      streams.check(batches, all)
      val wanted = all.filter { it =>
        val shard = it.range.shard
        bounds.shards.forall(_(shard.shard.name)) &&
        bounds.streams.forall(_(shard.stream.name.name))
      }
      if (options.failOnDataLoss) streams.checkRetained(wanted)
      Plan(wanted, streams.access)
    } finally loans.foreach(_.close())
  }

  override def planInputPartitions(): Array[InputPartition] = {
    val slots = SparkContext.getOrCreate().defaultParallelism
    RangePacking
      .evenly(plan.ranges.toVector, slots * TasksPerSlot)
      .map(ReplayPartition(_): InputPartition)
      .toArray
  }

  override def createReaderFactory(): PartitionReaderFactory =
    ReplayReaderFactory(options, plan.streams)
}

private object ReplayBatch {

  /**
   * Tasks per slot: more than one, because shards differ in size, and Spark repeats a failed task
   * as a whole.
   */
  private val TasksPerSlot = 4

  private final case class Plan(ranges: Seq[ReplayRange], streams: Map[StreamArn, StreamAccess])
}
