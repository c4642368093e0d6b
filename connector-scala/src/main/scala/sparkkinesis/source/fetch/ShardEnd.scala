package sparkkinesis.source.fetch

import sparkkinesis.client.{KinesisClient, KinesisException, Page, ShardFilter, ShardSnapshot}
import sparkkinesis.model.{ChildShard, Shard, ShardId, StreamRef}

/**
 * Whether a shard has really come to its end. The service may answer without a next iterator by
 * mistake; believing that would leave out the rest of the shard.
 */
object ShardEnd {

  /**
   * The children, where the page names them or the shard is listed as closed, or no more; else `None`.
   *
   * @param page without a next iterator
   */
  def confirmed(
      client: KinesisClient,
      stream: StreamRef,
      shard: ShardId,
      page: Page
  ): Option[Seq[ChildShard]] =
    if (page.children.nonEmpty) Some(page.children)
    else {
      val listed = ShardSnapshot.list(client, stream, ShardFilter.FromTrimHorizon).shards
      val isClosed = listed.find(_.id == shard).forall(!_.isOpen)
      if (isClosed) Some(childrenIn(listed, shard)) else None
    }

  /**
   * The same for a page that should be the last.
   *
   * @throws KinesisException.ServiceFailure where nothing confirms it: to be asked again
   */
  def children(
      client: KinesisClient,
      stream: StreamRef,
      shard: ShardId,
      page: Page
  ): Seq[ChildShard] =
    confirmed(client, stream, shard, page).getOrElse {
      throw new KinesisException.ServiceFailure(
        s"GetRecords of $shard of stream $stream ended without children, though it is listed as open."
      )
    }

  def childrenIn(listed: Seq[Shard], shard: ShardId): Seq[ChildShard] =
    listed.filter(_.parents.contains(shard)).map { child =>
      ChildShard(child.id, child.parents, child.hashKeys)
    }
}
