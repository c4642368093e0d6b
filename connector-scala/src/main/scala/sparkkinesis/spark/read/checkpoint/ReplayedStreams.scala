package sparkkinesis.spark.read.checkpoint

import sparkkinesis.client.{StreamAccess, SystemClock}
import sparkkinesis.model.StreamArn
import sparkkinesis.source.SourceException
import sparkkinesis.source.checkpoint.DescribedStream
import sparkkinesis.source.replay.{LoggedBatch, ReplayPlan, ReplayRange}

/** The streams that the options of a replay name, as Kinesis describes them. */
private[checkpoint] final class ReplayedStreams(streams: Seq[DescribedStream]) {
  private val named = streams.map(stream => stream.arn -> stream).toMap

  /** How to reach each stream. */
  def access: Map[StreamArn, StreamAccess] = named.map { case (arn, it) => arn -> it.access }

  /**
   * @throws SourceException if the batches read another stream, or one that was created again since
   */
  def check(batches: Seq[LoggedBatch], ranges: Seq[ReplayRange]): Unit = {
    val known = batches.flatMap(batch => Seq(batch.start, batch.end)).flatMap(_.streams.values)
    val other = ranges.map(_.range.shard.stream).distinct.filterNot(named.contains)
    if (other.nonEmpty || !known.exists(it => named.contains(it.stream)))
      throw new SourceException(
        "KINESIS_OTHER_STREAM",
        s"The batches read ${text(known.map(_.stream))}, but the options name " +
          s"${text(named.keys)}. Name the streams of the checkpoint in the options, too."
      )
    for (offset <- known; stream <- named.get(offset.stream))
      stream.recreated(offset.created).foreach(cause => throw cause)
  }

  /** @throws SourceException if records of a range may have expired */
  def checkRetained(ranges: Seq[ReplayRange]): Unit =
    ReplayPlan.checkRetained(
      ranges,
      shard => named(shard.stream).retention,
      shard => named(shard.stream).time.at(SystemClock.now)
    )

  private def text(arns: Iterable[StreamArn]): String = arns.toSeq.distinct.sorted.mkString(", ")
}
