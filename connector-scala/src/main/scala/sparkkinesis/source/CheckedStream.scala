package sparkkinesis.source

import java.time.Instant

import scala.concurrent.duration._

import org.slf4j.LoggerFactory

import sparkkinesis.client._
import sparkkinesis.model._

/**
 * A stream as a checkpoint knows it, and whether it is still the same one.
 *
 * @param start where it begins if the checkpoint does not know it
 * @param chance evenly distributed in `[0, 1)`, for jitter
 */
final class CheckedStream(
    stream: StreamClient,
    start: StartingPosition,
    failOnDataLoss: Boolean,
    clock: Clock,
    chance: () => Double
) {
  private val log = LoggerFactory.getLogger(classOf[CheckedStream])
  private lazy val summary = retrying(stream.client.describeStream(stream.ref))

  def arn: StreamArn = summary.arn

  /** The first offset of a new query. */
  def begin(): StreamOffset =
    retrying(ShardDiscovery.initialOffset(stream.client, stream.ref, start, clock, chance))

  /** The service's time, as far as it tells. */
  def now(): Instant = {
    val listing = retrying {
      stream.client.listShards(ListShardsRequest.First(stream.ref, ShardFilter.AtLatest))
    }
    ShardDiscovery.serviceNowAtLatest(clock.now, listing.serverTime)
  }

  /** How often an idle query logs that it has seen all there was. */
  def confirmationPeriod: FiniteDuration = summary.retention / 4

  /**
   * Before the first batch: is this the offset's stream, and can nothing have been trimmed unread?
   *
   * @throws SourceException where it is not, or something may have been
   */
  def check(offset: StreamOffset): Unit = {
    if (offset.created != summary.created)
      throw new SourceException(
        "KINESIS_STREAM_RECREATED",
        s"Stream $arn was created at ${summary.created}, the one in the checkpoint at " +
          s"${offset.created}: it was deleted and made again, and its records are gone. Use a new " +
          "checkpoint location to read the new stream."
      )
    val horizon = clock.now.minusMillis(summary.retention.toMillis)
    offset.shards.toSeq
      .flatMap { case (id, shard) => shard.completeAsOf.filter(_.isBefore(horizon)).map(id -> _) }
      .sortBy(_._2)
      .headOption
      .foreach { case (id, completeAsOf) => lost(id, completeAsOf) }
  }

  private def lost(shard: ShardId, completeAsOf: Instant): Unit = {
    val message = s"The query has not read $shard of stream $arn to its tip since " +
      s"$completeAsOf, and records are kept for ${summary.retention}: some may have been trimmed " +
      "unread."
    if (failOnDataLoss)
      throw new SourceException(
        "KINESIS_DATA_LOSS",
        s"$message To go on with what there is, set 'failOnDataLoss' to 'false'."
      )
    else log.warn(s"$message Going on, as 'failOnDataLoss' is 'false'.")
  }

  private def retrying[A](call: => A): A = CheckedStream.Retrying(clock, chance)(call)
}

object CheckedStream {
  private val Retrying = Retry(attempts = 4, FetchSettings.RetryBackoff)
}
