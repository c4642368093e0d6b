package sparkkinesis.source.fetch

import sparkkinesis.client.{KinesisException, Page}
import sparkkinesis.model.{ChildShard, Shard, ShardId, StreamRef}

/**
 * Checks that a shard has really ended. Kinesis sometimes returns no next iterator by mistake;
 * trusting that answer would skip the rest of the shard.
 */
object ShardEnd {

  /** The end of a shard without records. */
  val EmptyPage: Page = Page(IndexedSeq.empty, None, 0, Seq.empty)

  /**
   * @param page a page without a next iterator
   * @param list lists all shards
   * @return the shard's children, if the page names them, or if the shard is listed as closed or
   *   not listed any more; otherwise `None`, because the shard has not ended
   */
  def confirmed(shard: ShardId, page: Page)(list: => Seq[Shard]): Option[Seq[ChildShard]] =
    if (page.children.nonEmpty) Some(page.children)
    else {
      val listed = list
      val isClosed = listed.find(_.id == shard).forall(!_.isOpen)
      if (isClosed) Some(childrenIn(listed, shard)) else None
    }

  /**
   * @param page a page without a next iterator
   * @param list lists all shards
   * @return the shard's children
   * @throws KinesisException.ServiceFailure if the shard has not ended; the call can be retried
   */
  def children(stream: StreamRef, shard: ShardId, page: Page)(
      list: => Seq[Shard]
  ): Seq[ChildShard] =
    confirmed(shard, page)(list).getOrElse(throw mistaken(stream, shard))

  /** The shard has not ended. The call can be retried. */
  def mistaken(stream: StreamRef, shard: ShardId): KinesisException.ServiceFailure =
    new KinesisException.ServiceFailure(
      s"GetRecords returned neither a next iterator nor children for $shard of stream $stream, but the " +
        "shard is listed as open."
    )

  def childrenIn(listed: Seq[Shard], shard: ShardId): Seq[ChildShard] =
    listed.filter(_.parents.contains(shard)).map { child =>
      ChildShard(child.id, child.parents, child.hashKeys)
    }
}
