package sparkkinesis.source.watch

import scala.collection.immutable.SortedMap

import sparkkinesis.model.offset.{Progress, ShardProgress, StreamOffset}
import sparkkinesis.model.{HashKeyRange, Shard, ShardId}

/**
 * What is wrong between an offset and a listing: shards that nobody would ever read.
 *
 * @param missing listed shards that neither are in the offset nor come from one that is, nor came before
 *   one; without those that descend from another of them, as these come by themselves
 * @param forsaken shards of the offset that wait in vain, and for whom
 * @param unlisted shards of the offset that wait, and that the listing does not know. It may be a late
 *   one: nothing of this counts before the service itself says that each of them is gone.
 */
final case class AuditFindings(
    missing: Seq[Shard],
    forsaken: SortedMap[ShardId, Set[ShardId]],
    unlisted: Set[ShardId]
) {
  def isEmpty: Boolean = missing.isEmpty && forsaken.isEmpty

  /** What another audit has found too. */
  def and(other: AuditFindings): AuditFindings = {
    val known = other.missing.map(_.id).toSet
    val stillForsaken = forsaken.flatMap { case (id, gone) =>
      val still = gone.intersect(other.forsaken.getOrElse(id, Set.empty))
      Option.when(still.nonEmpty)(id -> still)
    }
    AuditFindings(
      missing.filter(shard => known(shard.id)),
      stillForsaken,
      unlisted
    )
  }

  /**
   * The offset with every shard looked after: those that were missing from their beginning, and nobody
   * waiting in vain. No order is lost: whatever came before them is read, or gone.
   */
  def mend(offset: StreamOffset): StreamOffset = {
    val released = offset.shards.transform { (id, shard) =>
      shard.copy(waitsFor = shard.waitsFor.diff(forsaken.getOrElse(id, Set.empty)))
    }
    val adopted = missing.collect {
      case shard if !offset.shards.contains(shard.id) =>
        shard.id -> ShardProgress(Progress.TrimHorizon, Set.empty)
    }
    offset.copy(shards = released ++ adopted)
  }
}

object AuditFindings {
  val None: AuditFindings = AuditFindings(Nil, SortedMap.empty, Set.empty)
}

/**
 * Whether every hash key is looked after. A function of an offset and a whole listing, open shards and
 * closed ones, which may be late or half done.
 */
object ShardAudit {

  /**
   * `None` where the listing allows no judgement: it contradicts itself, or lacks a shard that is being
   * read. That one is either new, and the listing late, or gone, and its reader will notice.
   */
  def of(offset: StreamOffset, listed: Seq[Shard]): Option[AuditFindings] = {
    val settled = offset.settled.shards
    val byId = listed.map(shard => shard.id -> shard).toMap
    if (!isSound(listed) || !offset.readable.keys.forall(byId.contains)) None
    else {
      val children = childrenOf(listed)
      // A parent that is still waited for was not read, nor what came before it alone.
      val readParents = byId.map { case (id, shard) =>
        id -> shard.parents.filterNot(settled.get(id).fold(Set.empty[ShardId])(_.waitsFor))
      }
      val planned = settled.keySet.toSet
      val expected = reachable(planned, children)
      val known = expected ++ reachable(planned, readParents)
      val missing = listed.filterNot(shard => known(shard.id))
      val missingIds = missing.map(_.id).toSet
      val toCome = expected ++ missingIds ++ reachable(missingIds, children)
      val forsaken = settled.flatMap { case (id, shard) =>
        val vain = shard.waitsFor.diff(toCome)
        Option.when(vain.nonEmpty)(id -> vain)
      }
      val roots = missing.filterNot(_.parents.exists(missingIds)).sortBy(_.id)
      Some(AuditFindings(roots, forsaken, planned.diff(byId.keySet)))
    }
  }

  /** Whether no two listings a moment apart are mixed up in it: each hash key has one line of owners. */
  private[source] def isSound(listed: Seq[Shard]): Boolean = {
    val byId = listed.map(shard => shard.id -> shard).toMap
    val children = childrenOf(listed)
    val (open, closed) = listed.partition(_.isOpen)
    tile(open.map(_.hashKeys), HashKeyRange.All) &&
    open.forall(shard => !children.contains(shard.id)) &&
    closed.forall(shard => cover(children.getOrElse(shard.id, Nil).map(byId(_).hashKeys), shard))
  }

  private def childrenOf(listed: Seq[Shard]): Map[ShardId, Seq[ShardId]] =
    listed
      .flatMap(shard => shard.parents.map(_ -> shard.id))
      .groupMap { case (parent, _) => parent } { case (_, child) => child }

  /** Side by side, without gap or overlap. */
  private def tile(ranges: Seq[HashKeyRange], all: HashKeyRange): Boolean = {
    val sorted = ranges.sortBy(_.first)
    sorted.headOption.exists(_.first == all.first) && sorted.last.last == all.last &&
    sorted.zip(sorted.drop(1)).forall { case (one, next) =>
      one.last.value + 1 == next.first.value
    }
  }

  private def cover(children: Seq[HashKeyRange], parent: Shard): Boolean = {
    val sorted = children.sortBy(_.first)
    sorted.headOption.exists(_.first <= parent.hashKeys.first) &&
    sorted.last.last >= parent.hashKeys.last &&
    tile(sorted, HashKeyRange(sorted.head.first, sorted.last.last))
  }

  /** These and all that the arrows lead to. */
  private def reachable(from: Set[ShardId], next: Map[ShardId, Seq[ShardId]]): Set[ShardId] =
    Iterator
      .unfold((from, from)) { case (all, edge) =>
        val further = edge.flatMap(id => next.getOrElse(id, Nil)).diff(all)
        Option.when(edge.nonEmpty)((all ++ further, (all ++ further, further)))
      }
      .foldLeft(from)((_, last) => last)
}
