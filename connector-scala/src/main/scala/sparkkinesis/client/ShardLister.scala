package sparkkinesis.client

import scala.annotation.tailrec

import sparkkinesis.client.ListShardsRequest.{First, Next}
import sparkkinesis.model.StreamRef

/**
 * Reads all pages of `ListShards`. After a failure the next call continues at the page that failed,
 * because the first pages of a large stream cost many calls. If the service refuses the token of
 * that page, the listing begins again, a few times. Used by one thread at a time.
 */
private[sparkkinesis] final class ShardLister(
    client: KinesisClient,
    stream: StreamRef,
    filter: ShardFilter
) {
  private var read = Option.empty[ShardListing] // the pages that were read before a failure

  /** @throws KinesisException if a call fails */
  def list(): ShardListing = list(restarts = 0)

  @tailrec
  private def list(restarts: Int): ShardListing = attempt() match {
    case Right(snapshot) => snapshot
    case Left(refusal) =>
      read = None
      if (restarts == ShardLister.MostRestarts) throw refusal
      list(restarts + 1)
  }

  /** @return the failure if a page after the first cannot be read with its token */
  private def attempt(): Either[KinesisException, ShardListing] =
    try Right(rest())
    catch { case e: KinesisException if read.nonEmpty && ShardLister.endsToken(e) => Left(e) }

  @tailrec
  private def rest(): ShardListing = {
    val next = for (before <- read; token <- before.nextToken) yield before -> token
    val listed = next match {
      case None => client.listShards(First(stream, filter))
      case Some((before, token)) =>
        val page = client.listShards(Next(stream, token))
        before.copy(shards = before.shards ++ page.shards, nextToken = page.nextToken)
    }
    read = Some(listed).filter(_.nextToken.nonEmpty)
    if (read.isEmpty) listed else rest()
  }
}

private[sparkkinesis] object ShardLister {
  private val MostRestarts = 3

  /** A server may refuse an old token by any error. A repetition of the call does not help. */
  private def endsToken(e: KinesisException): Boolean = e match {
    case _: KinesisException.ListingExpired => true
    case _ => !e.isRetryable
  }

  /** Lists the shards once. */
  def list(client: KinesisClient, stream: StreamRef, filter: ShardFilter): ShardListing =
    new ShardLister(client, stream, filter).list()
}
