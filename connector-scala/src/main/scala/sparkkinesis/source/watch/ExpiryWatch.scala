package sparkkinesis.source.watch

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.client.{Clock, KinesisClient, KinesisException}
import sparkkinesis.compat._
import sparkkinesis.model.{StreamArn, StreamRef, StreamShard}
import sparkkinesis.source.pace.SharedRetention

/**
 * Knows when records expire that the query has not processed. [[Expiry]] decides. Thread-safe.
 *
 * @param unread since when each shard has had records that were not processed
 * @param warn receives a warning at most every five minutes
 */
final class ExpiryWatch(
    streams: Seq[ExpiryWatch.Stream],
    clock: Clock,
    unread: () => Map[StreamShard, Instant],
    warn: String => Unit
) {
  import ExpiryWatch._

  private val retentions = streams.map { stream =>
    val shared = new SharedRetention
    shared.learn(stream.retention, clock.steady)
    stream.arn -> shared
  }.toMap
  private var quietUntil = Option.empty[Instant] // by the steady clock

  /** The shard whose records expire first. `None` if that is not known yet. Calls no service. */
  def soonest: Option[Expiry] = soonest(stream => retentions(stream.arn).current)

  /** Warns if records expire soon. Before that, asks whether the retention period has changed. */
  def look(): Unit =
    if (soonest.exists(_.isNear) && synchronized(quietUntil.forall(!clock.steady.isBefore(_))))
      soonest(it => retention(it)).filter(_.isNear).foreach { expiry =>
        synchronized { quietUntil = Some(clock.steady.plusMillis(Quiet.toMillis)) }
        warn(expiry.warning)
      }

  private def soonest(retention: Stream => Option[FiniteDuration]): Option[Expiry] = {
    val known =
      for (stream <- streams; period <- retention(stream))
        yield stream.arn -> (period -> stream.now())
    Expiry.soonest(unread(), known.toMap)
  }

  private def retention(stream: Stream): Option[FiniteDuration] =
    try Some(retentions(stream.arn).proven(stream.client, stream.ref, clock.steady))
    catch { case _: KinesisException => retentions(stream.arn).current }
}

object ExpiryWatch {

  /**
   * @param retention as the stream was described last
   * @param now the service's time
   */
  final case class Stream(
      arn: StreamArn,
      ref: StreamRef,
      client: KinesisClient,
      retention: FiniteDuration,
      now: () => Instant
  )

  /** Between two warnings. */
  private val Quiet = 5.minutes
}
