package sparkkinesis.source.checkpoint

import java.time.Instant

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.client._
import sparkkinesis.compat._
import sparkkinesis.model.offset.StreamOffset
import sparkkinesis.model.{ArrivalTimes, ConsumerArn, Position, Shard, ShardId, StreamArn}
import sparkkinesis.shard.{DataLoss, ServiceTime, SourceException, StreamClient}
import sparkkinesis.source.options.ConsumerChoice
import sparkkinesis.source.position.ByShard

/**
 * The calls of a query's driver about a stream that its options name. Those with which the query
 * begins are repeated if they fail for the moment. Those of a running query, `list` and `areGone`,
 * are not: the query decides when to make them again.
 *
 * @param start where a new query begins to read it
 */
private[sparkkinesis] final class QueryStream(
    val access: StreamAccess,
    val kinesis: KinesisClient,
    start: ByShard[Position],
    clock: Clock
) {
  private val lister = new ShardLister(kinesis, access.ref, ShardFilter.FromTrimHorizon)

  def describe(): DescribedStream = retrying {
    val (begin, time) = (clock.now, new ServiceTime)
    val summary = kinesis.describeStream(access.ref)
    time.observe(begin, summary.serverTime)
    DescribedStream(access, summary, time)
  }

  /** The offset at which a new query begins. */
  def firstOffset(): StreamOffset =
    ShardDiscovery.initialOffset(StreamClient(access.ref, kinesis), start, clock)

  private def serviceTime(): TimeSpan = {
    val request = ListShardsRequest.First(access.ref, ShardFilter.AtLatest)
    val reported = retrying(kinesis.listShards(request)).serverTime
    TimeSpan(
      reported.getOrElse(clock.now),
      ShardDiscovery.serviceNowAtLatest(clock.now, reported)
    )
  }

  /**
   * All shards, open and closed. After a failure the next call continues at the page that failed.
   */
  def list(): Seq[Shard] = lister.list().shards

  /** Whether the service knows none of these shards any more. */
  def areGone(shards: Set[ShardId]): Boolean = shards.forall { shard =>
    try {
      kinesis.shardIterator(access.ref, shard, Position.TrimHorizon)
      false
    } catch { case _: KinesisException.NotFound => true }
  }

  /** The consumer that executors read it with; `None` if they poll. */
  def consumer(arn: StreamArn, choice: ConsumerChoice): Option[ConsumerArn] =
    new ConsumerRegistration(kinesis, access.ref, arn, clock).active(choice)

  private def retrying[A](call: => A): A = Retry.atStart(clock)(call)

  /**
   * Waits until each record that has arrived by a time is visible to readers.
   *
   * @param now by the service's clock, or earlier
   */
  private def awaitVisible(by: Instant, now: Instant): Unit =
    clock.sleep(ArrivalTimes.untilVisible(by.toEpochMilli, now.toEpochMilli))
}

private[sparkkinesis] object QueryStream {

  /**
   * The stop time of a run with `Trigger.AvailableNow`, by the service's clock: not before now.
   * Waits until each record that had arrived by then is visible.
   */
  def stopTime(streams: Seq[QueryStream]): Instant = {
    val times = streams.map(_.serviceTime())
    val stop = times.map(_.latest).max
    streams.headOption.foreach(_.awaitVisible(stop, times.map(_.earliest).min))
    stop
  }
}

/**
 * A stream as Kinesis described it when the query began.
 *
 * @param time of the service, by the answer
 */
private[sparkkinesis] final case class DescribedStream(
    access: StreamAccess,
    summary: StreamSummary,
    time: ServiceTime
) {
  def arn: StreamArn = summary.arn

  def retention: FiniteDuration = summary.retention

  /**
   * Whether records of a shard may have expired that arrived after `completeAsOf`.
   *
   * @param now by the clock of this machine
   */
  def mayHaveExpired(completeAsOf: Instant, now: Instant): Boolean =
    completeAsOf.isBefore(time.at(now).minusMillis(retention.toMillis))

  /** See [[DataLoss.extent]]. */
  def extentOfLoss(completeAsOf: Option[Instant], now: Instant): String =
    DataLoss.extent(completeAsOf, Some(retention), time.at(now))

  /**
   * The error to throw if the stream is no longer the one for which an offset was written. Some
   * emulators do not say when a stream was created: then nothing is known to have changed.
   *
   * @param before when the stream in the checkpoint was created
   * @param now when the stream of this name was created
   */
  def recreated(before: Instant, now: Instant = summary.created): Option[SourceException] =
    Option.when(before != now && !Seq(before, now).contains(StreamSummary.UnknownCreation)) {
      new SourceException(
        "KINESIS_STREAM_RECREATED",
        s"Stream $arn was created at $now, the stream in the checkpoint at $before. It was " +
          "deleted and created again, and the old records are gone. To read the new stream, use " +
          "a new checkpoint location."
      )
    }

  def deleted: SourceException = new SourceException(
    "KINESIS_STREAM_DELETED",
    s"Stream $arn was deleted while the query read it, and its records are gone. If you create " +
      "it again, use a new checkpoint location to read it."
  )
}

/** A time that is not known exactly: it is between the two. */
private final case class TimeSpan(earliest: Instant, latest: Instant)
