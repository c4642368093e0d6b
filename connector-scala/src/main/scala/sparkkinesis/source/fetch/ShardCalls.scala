package sparkkinesis.source.fetch

import java.time.Instant

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.client.{Moment, Page, ShardIterator}
import sparkkinesis.model.{ChildShard, Shard, ShardId}
import sparkkinesis.source.pace.{ReadCall, ReadPace}
import sparkkinesis.source.{SilentTip, StreamClient}

/**
 * The calls to one shard: at the pace of its quota, and with a listing that other shards share. Used
 * by one thread at a time.
 */
private[fetch] final class ShardCalls(stream: StreamClient, shard: ShardId, maxRecords: Int) {
  import stream.{client, ref, shared}

  private val tip = new SilentTip
  private var listedSince = Option.empty[Instant]

  /** The time until a call may begin. */
  def pause(at: Moment): Option[FiniteDuration] = {
    // The shard existed when its assignment began. An older listing may lack it.
    listedSince = listedSince.orElse(Some(at.steady))
    pace(at).pause(at.steady.toEpochMilli)
  }

  /** @return the time until a call may begin, or the call */
  def next(at: Moment): Either[FiniteDuration, ReadCall] = pace(at).next(at.steady.toEpochMilli)

  def page(call: ReadCall, iterator: ShardIterator, at: Moment): Page = {
    val now = at.steady.toEpochMilli
    val page = pace(at).read(call, maxRecords, () => now)(client.getRecords(ref, iterator, _))
    tip.judge(page, now)
  }

  /** There was no memory for the response. */
  def unread(call: ReadCall, bytes: Long, at: Moment): Unit =
    pace(at).unread(call, bytes, at.steady.toEpochMilli)

  /** The shard's children if the page is really its end; see [[ShardEnd]]. */
  def children(page: Page, at: Moment): Option[Seq[ChildShard]] =
    ShardEnd.confirmed(shard, page)(shards(at))

  /** All shards of the stream, open and closed. */
  def shards(at: Moment): Seq[Shard] = {
    val notBefore = listedSince.getOrElse(at.steady).toEpochMilli
    shared.listing.shards(client, ref, notBefore, at.steady.toEpochMilli)
  }

  /** The last listing is doubtful: the next use needs another one. */
  def doubtListing(at: Moment): Unit = listedSince = Some(at.steady)

  private def pace(at: Moment): ReadPace = shared.paces.of(shard, at.steady.toEpochMilli)
}
