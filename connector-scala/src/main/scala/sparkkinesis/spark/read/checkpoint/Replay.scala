package sparkkinesis.spark.read.checkpoint

import scala.collection.immutable.SortedSet

import org.slf4j.LoggerFactory

import sparkkinesis.client.aws.ClientPool
import sparkkinesis.client.{StreamAccess, SystemClock}
import sparkkinesis.model.{ConsumerArn, StreamArn}
import sparkkinesis.shard.ShardRange
import sparkkinesis.source.checkpoint.{LoggedBatches, QueryStream}
import sparkkinesis.source.options.{BatchNumbers, ReplayOptions, SourceOptions}
import sparkkinesis.source.replay.{LoggedBatch, ReadBounds, ReplayPlan, ReplayedStreams}

/**
 * What a batch read reads.
 *
 * @param streams how to reach each stream
 * @param consumers of enhanced fan-out; none of a stream that is polled
 */
private[read] final case class BatchPlan(
    ranges: Seq[ShardRange],
    streams: Map[StreamArn, StreamAccess],
    consumers: Map[StreamArn, ConsumerArn] = Map.empty
)

/** Reads micro-batches of a streaming query again, as its checkpoint has them. On the driver. */
private[read] final class Replay(
    options: SourceOptions,
    replay: ReplayOptions,
    bounds: ReadBounds
) {
  private val log = LoggerFactory.getLogger(classOf[Replay])
  private val conf = SessionFiles.conf()

  def plan(): BatchPlan = {
    val batches = logged(new CheckpointFiles(replay.checkpoint, conf))
    val ranges = ReplayPlan.of(batches)
    val loans = ClientPool.shared.borrowAll(options.streams.map(_.client))
    try {
      val described = options.streams.zip(loans).map { case (access, loan) =>
        val start = options.queryStart(access.ref)
        new QueryStream(access, loan.value, start, SystemClock).describe()
      }
      val streams = new ReplayedStreams(described)
      streams.check(batches, ranges)
      val wanted = ranges.filter { range =>
        bounds.shards.forall(_(range.shard.shard.name)) &&
        bounds.streams.forall(_(range.shard.stream.name.name))
      }
      if (options.failOnDataLoss) streams.checkRetained(wanted, SystemClock.now)
      BatchPlan(wanted, described.map(it => it.arn -> it.access).toMap)
    } finally loans.foreach(_.close())
  }

  private def logged(files: CheckpointFiles): Seq[LoggedBatch] = {
    files.logged().check(replay.batches)
    val ends = replay.batches.toSeq.map(number => number -> files.end(number))
    val source = LoggedBatches.source(replay.checkpoint, ends.map(_._2), replay.source)
    val starts = replay.batches.toSeq
      .filter(_ > 0)
      .map { number =>
        number -> files.offsets(number - 1)
      }
      .toMap
    warnOfPending(replay.batches.diff(files.committed()))
    for {
      (number, offsets) <- ends
      end <- offsets.of(source)
    } yield {
      val start = starts.get(number).flatMap(_.of(source))
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
}
