package sparkkinesis.source.checkpoint

import java.time.Instant

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.client._
import sparkkinesis.model.offset.StreamOffset
import sparkkinesis.model.{ArrivalTimes, ConsumerArn, Position, StreamArn}
import sparkkinesis.source.options.{ConsumerChoice, FetchSettings}
import sparkkinesis.source.position.ByShard
import sparkkinesis.source.{ServiceTime, StreamClient}

/**
 * A stream that the query's options name, and what Kinesis reports about it. Describes the stream
 * once.
 *
 * @param start where a new query begins to read it
 * @param chance evenly distributed in `[0, 1)`, for jitter
 */
final class QueryStream(
    val access: StreamAccess,
    kinesis: KinesisClient,
    start: ByShard[Position],
    clock: Clock,
    chance: () => Double
) {
  val client: StreamClient = StreamClient(access.ref, kinesis)
  private lazy val (summary, time) = retrying {
    val (begin, time) = (clock.now, new ServiceTime)
    val summary = kinesis.describeStream(access.ref)
    time.observe(begin, summary.serverTime)
    summary -> time
  }

  def arn: StreamArn = summary.arn

  def retention: FiniteDuration = summary.retention

  /** The service's time, by its description of the stream. */
  def now: Instant = time.at(clock.now)

  /** The offset at which a new query begins. */
  def firstOffset(): StreamOffset =
    ShardDiscovery.initialOffset(client, start, clock, chance)

  /** The service's time; this machine's where the service reports none. */
  def serviceTime(): TimeSpan = {
    val request = ListShardsRequest.First(access.ref, ShardFilter.AtLatest)
    val reported = retrying(kinesis.listShards(request)).serverTime
    TimeSpan(
      reported.getOrElse(clock.now),
      ShardDiscovery.serviceNowAtLatest(clock.now, reported)
    )
  }

  /** The consumer that executors read it with; `None` if they poll. */
  def consumer(choice: ConsumerChoice): Option[ConsumerArn] =
    new ConsumerRegistration(kinesis, access.ref, arn, clock, chance).active(choice)

  /**
   * Waits until each record that has arrived by a time is visible to readers.
   *
   * @param now by the service's clock, or earlier
   */
  def awaitVisible(by: Instant, now: Instant): Unit =
    clock.sleep(ArrivalTimes.untilVisible(by.toEpochMilli, now.toEpochMilli))

  /** @throws SourceException if the stream was created again since the offset was written */
  def checkIdentity(offset: StreamOffset): Unit =
    StreamIdentity.mismatch(summary, offset).foreach(cause => throw cause)

  private def retrying[A](call: => A): A = FetchSettings.StartRetry(clock, chance)(call)
}

/** A time that is not known exactly: it is between the two. */
final case class TimeSpan(earliest: Instant, latest: Instant)
