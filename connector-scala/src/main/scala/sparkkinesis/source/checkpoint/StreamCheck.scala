package sparkkinesis.source.checkpoint

import java.time.Instant

import scala.concurrent.duration._

import org.slf4j.LoggerFactory

import sparkkinesis.client.{Clock, ListShardsRequest, Retry, ShardFilter}
import sparkkinesis.compat._
import sparkkinesis.model.offset.{Progress, StreamOffset}
import sparkkinesis.model.{ShardId, StreamArn}
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.position.{ByShard, StartingPosition}
import sparkkinesis.source.{DataLoss, SourceException, StreamClient}

/**
 * A stream as a checkpoint knows it, and whether it is still the same one.
 *
 * @param start where it begins if the checkpoint does not know it
 * @param chance evenly distributed in `[0, 1)`, for jitter
 */
final class StreamCheck(
    val stream: StreamClient,
    start: ByShard[StartingPosition],
    failOnDataLoss: Boolean,
    clock: Clock,
    chance: () => Double
) {
  import StreamCheck._

  private val log = LoggerFactory.getLogger(classOf[StreamCheck])
  private var passedOver = Map.empty[ShardId, Instant]
  private lazy val summary = retrying(stream.client.describeStream(stream.ref))

  def arn: StreamArn = summary.arn

  /** The first offset of a new query. */
  def begin(): StreamOffset =
    retrying(ShardDiscovery.initialOffset(stream, start, clock, chance))

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
    StreamIdentity.mismatch(summary, offset).foreach(cause => throw cause)
    val horizon = clock.now.minusMillis(summary.retention.toMillis)
    val stale = offset.shards.toSeq.flatMap { case (id, shard) =>
      shard.completeAsOf.filter(_.isBefore(horizon)).map(StaleShard(id, shard.progress, _))
    }
    if (failOnDataLoss)
      stale.minByOption(_.completeAsOf).foreach { worst =>
        val others =
          if (stale.size > 1) s" The same holds for ${stale.size - 1} other shards." else ""
        throw new SourceException(
          "KINESIS_DATA_LOSS",
          s"${lost(worst)}.$others To go on with what there is, set 'failOnDataLoss' to 'false'."
        )
      }
    else
      stale.foreach(shard => log.warn(s"${lost(shard)}. Going on, as 'failOnDataLoss' is 'false'."))
    passedOver = stale.map(shard => shard.id -> shard.completeAsOf).toMap
  }

  private def lost(shard: StaleShard): String =
    s"Records of ${shard.id} of stream $arn behind ${shard.progress} may have been trimmed unread: " +
      DataLoss.extent(Some(shard.completeAsOf), Some(summary.retention), clock.now)

  /** Shards of which records may have been lost before this run, and the query goes on. */
  def lostRanges: Long = passedOver.size.toLong

  /** The offset without what was told to be lost: nobody needs to tell it again. */
  def told(offset: StreamOffset): StreamOffset =
    if (passedOver.forall { case (id, told) => !isStale(offset, id, told) }) offset
    else
      offset.copy(shards = offset.shards.transform { (id, shard) =>
        shard.copy(completeAsOf = shard.completeAsOf.filterNot(passedOver.get(id).contains(_)))
      })

  private def isStale(offset: StreamOffset, shard: ShardId, told: Instant): Boolean =
    offset.shards.get(shard).exists(_.completeAsOf.contains(told))

  private def retrying[A](call: => A): A = Retrying(clock, chance)(call)
}

object StreamCheck {
  private final case class StaleShard(id: ShardId, progress: Progress, completeAsOf: Instant)

  /** Of calls that a query waits for when it begins. */
  val Retrying: Retry = Retry(attempts = 4, FetchSettings.RetryBackoff)
}
