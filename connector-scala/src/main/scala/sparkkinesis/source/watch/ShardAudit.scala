package sparkkinesis.source.watch

import scala.annotation.tailrec

import sparkkinesis.compat._
import sparkkinesis.model.offset.StreamOffset
import sparkkinesis.model.{HashKeyRange, Shard, ShardId}

/**
 * Compares an offset with a listing of all shards, open and closed. The listing may be outdated, or
 * mix the states before and after a reshard.
 */
private[sparkkinesis] object ShardAudit {

  /**
   * The shards that a query would never read if it went on from `offset`.
   *
   * @return `None` if the listing proves nothing: it contradicts itself, or lacks a shard that is
   *   being read. Either the listing is outdated, or that shard has expired and its reader will
   *   notice.
   */
  def of(offset: StreamOffset, listed: Seq[Shard]): Option[AuditFindings] =
    Option.when(isConsistent(listed) && offset.readable.keySet.subsetOf(ids(listed))) {
      val shards = offset.settled.shards
      val planned = shards.keySet.toSet
      val children = childrenOf(listed)
      val covered = reachable(planned, children)
      val known = covered ++ reachable(planned, parentsRead(offset, listed))
      val missing = listed.filterNot(shard => known(shard.id))
      val missingIds = ids(missing)
      val readable = covered ++ reachable(missingIds, children)
      val blocked = for {
        (id, shard) <- shards.toSeq
        parent <- shard.waitsFor.diff(readable).toSeq.sorted
      } yield BlockedShard(id, parent)
      val oldest = missing.filterNot(_.parents.exists(missingIds)).sortBy(_.id)
      AuditFindings(oldest, blocked)
    }

  /**
   * Shards of the offset that wait for others and that the listing lacks. Findings count only if
   * the service confirms that each of these shards has expired; otherwise the listing is outdated.
   */
  def unlisted(offset: StreamOffset, listed: Seq[Shard]): Set[ShardId] =
    offset.settled.shards.keySet.toSet.diff(ids(listed))

  /** The parents of each shard that have been read: those that it does not wait for. */
  private def parentsRead(
      offset: StreamOffset,
      listed: Seq[Shard]
  ): Map[ShardId, Seq[ShardId]] =
    listed.map { shard =>
      val unread = offset.settled.shards.get(shard.id).fold(Set.empty[ShardId])(_.waitsFor)
      shard.id -> shard.parents.filterNot(unread)
    }.toMap

  /**
   * Whether the listing can be the state at one moment: open shards own each hash key once and have
   * no children, and the children of each closed shard own its hash keys.
   */
  private def isConsistent(listed: Seq[Shard]): Boolean = {
    val byId = listed.map(shard => shard.id -> shard).toMap
    val children = childrenOf(listed)
    val (open, closed) = listed.partition(_.isOpen)
    HashKeyRange.All.isDividedInto(open.map(_.hashKeys)) &&
    open.forall(shard => !children.contains(shard.id)) &&
    closed.forall { shard =>
      shard.hashKeys.isDividedInto(children.getOrElse(shard.id, Nil).map(byId(_).hashKeys))
    }
  }

  private def ids(shards: Seq[Shard]): Set[ShardId] = shards.map(_.id).toSet

  private def childrenOf(listed: Seq[Shard]): Map[ShardId, Seq[ShardId]] =
    listed
      .flatMap(shard => shard.parents.map(_ -> shard.id))
      .groupMap { case (parent, _) => parent } { case (_, child) => child }

  /** The given shards and all shards that `next` leads to from them. */
  @tailrec
  private def reachable(
      from: Set[ShardId],
      next: Map[ShardId, Seq[ShardId]],
      found: Set[ShardId] = Set.empty
  ): Set[ShardId] =
    if (from.isEmpty) found
    else {
      val all = found ++ from
      reachable(from.flatMap(next.getOrElse(_, Nil)).diff(all), next, all)
    }
}
