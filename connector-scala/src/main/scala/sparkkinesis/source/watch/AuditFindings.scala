package sparkkinesis.source.watch

import sparkkinesis.model.offset.{Progress, ShardProgress, StreamOffset}
import sparkkinesis.model.{Shard, ShardId}

/** A shard of an offset that waits for a parent that can no longer be read. */
final case class BlockedShard(id: ShardId, parent: ShardId)

/**
 * Shards that the query would never read if it went on from an offset.
 *
 * @param missing listed shards that are neither in the offset, nor descendants of a shard in it,
 *   nor ancestors of one. Descendants of a missing shard are left out, because they follow it.
 * @param blocked shards of the offset, one entry per parent that is gone
 */
final case class AuditFindings(missing: Seq[Shard], blocked: Seq[BlockedShard]) {
  def isEmpty: Boolean = missing.isEmpty && blocked.isEmpty

  /** Number of shards. */
  def size: Int = missing.size + blocked.map(_.id).distinct.size

  /** The findings that another audit also has. */
  def intersect(other: AuditFindings): AuditFindings = AuditFindings(
    missing.filter(shard => other.missing.exists(_.id == shard.id)),
    blocked.intersect(other.blocked)
  )

  /**
   * The offset with each missing shard added at its trim horizon, and no shard blocked. Order per
   * key is kept, because all records that precede these shards have been read or have expired.
   */
  def repair(offset: StreamOffset): StreamOffset = {
    val unblocked = offset.shards.transform { (id, shard) =>
      shard.copy(waitsFor =
        shard.waitsFor.filterNot(parent => blocked.contains(BlockedShard(id, parent)))
      )
    }
    val added = missing.map(_.id).filterNot(offset.shards.contains).map { id =>
      id -> ShardProgress(Progress.TrimHorizon, Set.empty)
    }
    offset.copy(shards = unblocked ++ added)
  }
}

object AuditFindings {
  val None: AuditFindings = AuditFindings(Nil, Nil)
}
