package sparkkinesis.source.fetch

import java.time.Instant

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.client.{Moment, Page, ShardIterator}
import sparkkinesis.model.{ChildShard, Shard, ShardId}
import sparkkinesis.source.StreamClient
import sparkkinesis.source.pace.{ReadCall, ReadPace}

/**
 * The calls to one shard: at the pace of its quota, and with a listing that other shards share. Used
 * by one thread at a time.
 */
private[fetch] final class ShardCalls(stream: StreamClient, shard: ShardId, maxRecords: Int) {
  import stream.{client, ref, shared}

  private var listedSince = Option.empty[Instant]

  /** The time until a call may begin. */
  def pause(at: Moment): Option[FiniteDuration] = {
    // The shard existed when its assignment began. An older listing may lack it.
    listedSince = listedSince.orElse(Some(at.steady))
    pace(at).pause(at.steady.toEpochMilli)
  }

  /** @return the time until a call may begin, or the call */
  def next(at: Moment): Either[FiniteDuration, ReadCall] = pace(at).next(at.steady.toEpochMilli)

  def page(call: ReadCall, iterator: ShardIterator, at: Moment): Page =
    pace(at).read(call, maxRecords, () => at.steady.toEpochMilli) {
      client.getRecords(ref, iterator, _)
    }

  /** The shard's children, if the page is its end. */
  def children(page: Page, at: Moment): Seq[ChildShard] =
    if (page.next.nonEmpty) Nil
    else {
      val confirmed = ShardEnd.children(ref, shard, page)(shards(at))
      shared.paces.forget(shard)
      confirmed
    }

  /** All shards of the stream, open and closed. */
  def shards(at: Moment): Seq[Shard] = {
    val notBefore = listedSince.getOrElse(at.steady).toEpochMilli
    shared.listing.shards(client, ref, notBefore, at.steady.toEpochMilli)
  }

  /** The last listing is doubtful: the next use needs another one. */
  def doubtListing(at: Moment): Unit = listedSince = Some(at.steady)

  private def pace(at: Moment): ReadPace = shared.paces.of(shard, at.steady.toEpochMilli)
}
