package sparkkinesis.shard.feed

import sparkkinesis.client.{KinesisException, Page}
import sparkkinesis.compat._
import sparkkinesis.model.{ChildShard, Shard, ShardId, StreamRef}

/**
 * Checks that a shard has really ended. Kinesis sometimes returns no next iterator by mistake.
 * Trusting that answer would skip the rest of the shard. If the page names no children, two answers
 * in a row must say so, and the listing.
 */
private[sparkkinesis] object ShardEnd {

  /** The end of a shard without records. */
  val EmptyPage: Page = Page(IndexedSeq.empty, None, 0, Seq.empty)

  /**
   * The shard's children if it is listed as closed, together with children that have all its hash
   * keys, or if it is not listed any more. A listing may show a shard as closed before it shows the
   * children.
   */
  def childrenOfClosed(listed: Seq[Shard], shard: ShardId): Option[Seq[ChildShard]] = {
    val children = childrenIn(listed, shard)
    val isProven = listed.find(_.id == shard).forall { it =>
      !it.isOpen && it.hashKeys.isDividedInto(children.map(_.hashKeys))
    }
    Option.when(isProven)(children)
  }

  /** The shard has not ended. The call can be retried. */
  def mistaken(stream: StreamRef, shard: ShardId): KinesisException.ServiceFailure =
    new KinesisException.ServiceFailure(
      s"The service returned neither a next position nor children for $shard of stream $stream, " +
        "but the shard is listed as open, or without all its children."
    )

  def childrenIn(listed: Seq[Shard], shard: ShardId): Seq[ChildShard] =
    listed.filter(_.parents.contains(shard)).map { child =>
      ChildShard(child.id, child.parents, child.hashKeys)
    }
}
