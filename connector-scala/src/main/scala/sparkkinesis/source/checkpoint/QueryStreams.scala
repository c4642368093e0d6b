package sparkkinesis.source.checkpoint

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.concurrent.duration.FiniteDuration

import sparkkinesis.client.StreamAccess
import sparkkinesis.compat._
import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.model.{ConsumerArn, StreamArn, StreamRef}
import sparkkinesis.source.options.SourceOptions

/**
 * All streams of a query. Checks each stream of an offset once: [[StreamMembership]],
 * [[StreamIdentity]] and [[ExpiredShards]] decide.
 */
final class QueryStreams(options: SourceOptions, streams: Seq[QueryStream]) {
  private lazy val named = SortedMap.from(streams.map(stream => stream.arn -> stream))
  private lazy val membership = new StreamMembership(named, options.allowStreamRemoval)
  private val expired =
    streams.map(stream => stream -> new ExpiredShards(stream, options.failOnDataLoss)).toMap
  private var checked = Set.empty[StreamArn]

  /** The first offset of a new query. */
  def firstOffset(): SourceOffset = SourceOffset.of(streams.map(_.firstOffset()))

  /**
   * The stop time of a run with `Trigger.AvailableNow`, by the service's clock: not before now.
   * Waits until each record that had arrived by then is visible.
   */
  def stopTime(): Instant = {
    val times = streams.map(_.serviceTime())
    val stop = times.map(_.latest).max
    streams.headOption.foreach(_.awaitVisible(stop, times.map(_.earliest).min))
    stop
  }

  /** How often an idle query logs that it has read all records. */
  def confirmationPeriod: FiniteDuration = streams.map(_.retention).min / 4

  /** The retention period of each stream that the options name. */
  def retention: Map[StreamArn, FiniteDuration] = named.map { case (arn, stream) =>
    arn -> stream.retention
  }

  /** The consumer of enhanced fan-out of each stream; none if the query polls. */
  def consumers: Map[StreamArn, ConsumerArn] = named.flatMap { case (arn, stream) =>
    stream.consumer(options.consumer).map(arn -> _)
  }

  /** How to reach each stream, including removed ones: Spark may run their last batch again. */
  def access: Map[StreamArn, StreamAccess] =
    named.map { case (arn, stream) => arn -> stream.access } ++
      membership.removedStreams.map(arn => arn -> removedAccess(arn))

  private def removedAccess(arn: StreamArn): StreamAccess =
    StreamAccess(StreamRef.ByArn(arn), options.streams.head.client.copy(region = arn.region))

  /**
   * Checks the streams of an offset that no earlier call has checked.
   *
   * @throws SourceException if a stream is not one of the query's or was created again, or if its
   *   records may have expired unread
   */
  def check(offset: SourceOffset): Unit = {
    val unchecked = offset.streams.filter { case (arn, _) => !checked(arn) }
    if (unchecked.nonEmpty) {
      membership.check(offset)
      for ((arn, known) <- unchecked; stream <- named.get(arn)) {
        stream.checkIdentity(known)
        expired(stream).check(known)
      }
      checked ++= unchecked.keySet
    }
  }

  /** See [[StreamMembership.withoutRemoved]]. */
  def withoutRemoved(offset: SourceOffset): SourceOffset = membership.withoutRemoved(offset)

  /** See [[StreamMembership.withJoined]]. */
  def withJoined(offset: SourceOffset): SourceOffset = membership.withJoined(offset)

  /** Shards of which records may have been lost before this run. */
  def lostRanges: Long = expired.values.map(_.count).sum

  /** See [[ExpiredShards.withoutReported]]. */
  def withoutReportedLoss(offset: SourceOffset): SourceOffset =
    if (lostRanges == 0) offset
    else
      offset.transform { (arn, known) =>
        named.get(arn).fold(known)(expired(_).withoutReported(known))
      }
}
