package sparkkinesis.source.replay

import java.time.Instant

import sparkkinesis.compat._
import sparkkinesis.model.offset.{Progress, SourceOffset}
import sparkkinesis.model.{PackedRecords, StreamArn}
import sparkkinesis.shard.{BatchEnd, DataLoss, ShardRange, SourceException}
import sparkkinesis.source.checkpoint.DescribedStream
import sparkkinesis.source.plan.BatchPlanner

/** A batch of a streaming query, as the query's checkpoint has it. */
private[sparkkinesis] final case class LoggedBatch(
    number: Long,
    start: SourceOffset,
    end: SourceOffset
)

/** Plans which records are read to replay batches. The same arguments always give the same plan. */
private[sparkkinesis] object ReplayPlan {

  /**
   * Exactly the records of the batches. Consecutive batches of a shard are one range, so that each
   * page is fetched once. Other ranges of the shard may overlap it, because a query that was moved
   * back has read records twice.
   *
   * @param batches in ascending order
   * @throws SourceException if the offsets of a batch contradict each other
   */
  def of(batches: Seq[LoggedBatch]): Seq[ShardRange] = {
    val each = for {
      batch <- batches
      range <- BatchPlanner.ranges(batch.start, batch.end)
    } yield range.copy(batches = Vector(BatchEnd(batch.number, range.upTo)))
    each.groupBy(_.shard).toSeq.sortBy(_._1).flatMap { case (_, ranges) => joined(ranges) }
  }

  private def joined(ranges: Seq[ShardRange]): Seq[ShardRange] =
    ranges.foldLeft(Vector.empty[ShardRange]) {
      case (before :+ last, next) if last.upTo == next.from =>
        before :+ last.copy(upTo = next.upTo, batches = last.batches ++ next.batches)
      case (before, next) => before :+ next
    }

  /** A page of a range, divided where batches end: the number of each batch, and its records. */
  def parts(range: ShardRange, page: PackedRecords): Iterator[(Long, PackedRecords)] = {
    var rest = page
    range.batches.iterator
      .takeWhile(_ => rest.nonEmpty)
      .map { end =>
        val part = end.upTo match {
          case Progress.After(last) => rest.take(rest.countWhile(rest.compareNumber(_, last) <= 0))
          case _ => rest
        }
        rest = rest.slice(part.size, rest.size)
        end.number -> part
      }
      .filter(_._2.nonEmpty)
  }
}

/** The streams that the options of a replay name, as Kinesis describes them. */
private[sparkkinesis] final class ReplayedStreams(streams: Seq[DescribedStream]) {
  private val named = streams.map(stream => stream.arn -> stream).toMap

  /**
   * @throws SourceException if the batches read another stream, or one that was created again since
   */
  def check(batches: Seq[LoggedBatch], ranges: Seq[ShardRange]): Unit = {
    val known = batches.flatMap(batch => Seq(batch.start, batch.end)).flatMap(_.streams.values)
    val other = ranges.map(_.shard.stream).distinct.filterNot(named.contains)
    if (other.nonEmpty || !known.exists(it => named.contains(it.stream)))
      throw new SourceException(
        "KINESIS_OTHER_STREAM",
        s"The batches read ${text(known.map(_.stream))}, but the options name " +
          s"${text(named.keys)}. Name the streams of the checkpoint in the options, too."
      )
    for (offset <- known; stream <- named.get(offset.stream))
      stream.recreated(offset.created).foreach(cause => throw cause)
  }

  private def text(arns: Iterable[StreamArn]): String = arns.toSeq.distinct.sorted.mkString(", ")

  /** @throws SourceException if records of a range may have expired */
  def checkRetained(ranges: Seq[ShardRange], now: Instant): Unit = {
    val expired = ranges.filter { range =>
      range.completeAsOf.exists(named(range.shard.stream).mayHaveExpired(_, now))
    }
    expired.minByOption(_.batches.head.number).foreach { first =>
      val id = first.shard
      val extent = named(id.stream).extentOfLoss(first.completeAsOf, now)
      val others = DataLoss.others(expired.map(_.shard).distinct.size)
      throw new SourceException(
        "KINESIS_DATA_LOSS",
        s"Records of batch ${first.batches.head.number} in ${id.shard} of stream ${id.stream} " +
          s"may have expired: $extent.$others Set 'replayBatches' to later batches. To read the " +
          "records that are left, set 'failOnDataLoss' to 'false'."
      )
    }
  }
}
