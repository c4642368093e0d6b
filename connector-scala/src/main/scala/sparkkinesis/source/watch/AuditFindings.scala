package sparkkinesis.source.watch

import sparkkinesis.model.offset.{Progress, ShardProgress, StreamOffset}
import sparkkinesis.model.{Shard, ShardId, StreamRef}
import sparkkinesis.shard.SourceException

/** A shard of an offset that waits for a parent that can no longer be read. */
private[sparkkinesis] final case class BlockedShard(id: ShardId, parent: ShardId)

/**
 * Shards that the query would never read if it went on from an offset.
 *
 * @param missing listed shards that are neither in the offset, nor descendants of a shard in it,
 *   nor ancestors of one. Descendants of a missing shard are left out, because they follow it.
 * @param blocked shards of the offset, one entry per parent that is gone
 */
private[sparkkinesis] final case class AuditFindings(
    missing: Seq[Shard],
    blocked: Seq[BlockedShard]
) {
  import AuditFindings.sentence

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

  /**
   * A data loss if parents expired before they were read; otherwise shards that are merely missing.
   */
  def failure(stream: StreamRef): SourceException = {
    val isLoss = blocked.nonEmpty || missing.exists(_.parents.nonEmpty)
    new SourceException(
      if (isLoss) "KINESIS_DATA_LOSS" else "KINESIS_SHARD_MISSING",
      s"${text(stream)} To read these shards from their trim horizon and continue, set " +
        "'failOnDataLoss' to 'false'. To start over, use a new checkpoint location."
    )
  }

  /** The findings, for messages. */
  def text(stream: StreamRef): String = {
    val added = missing.map { shard =>
      val parents =
        if (shard.parents.isEmpty) "" else s", parents ${shard.parents.mkString(" and ")}"
      s"${shard.id} (hash keys ${shard.hashKeys}$parents)"
    }
    s"The query would never read all of stream $stream." +
      sentence("The checkpoint contains neither these shards nor any of their ancestors", added) +
      sentence(
        "These shards wait for parents that expired before they were read",
        blocked.map(shard => s"${shard.id} waits for ${shard.parent}")
      ) +
      " The parents were probably trimmed after the stream's retention period."
  }
}

private[sparkkinesis] object AuditFindings {
  val None: AuditFindings = AuditFindings(Nil, Nil)

  private val Shown = 5

  private def sentence(start: String, items: Seq[String]): String = {
    val more = if (items.size > Shown) s"; and ${items.size - Shown} more" else ""
    if (items.isEmpty) "" else s" $start: ${items.take(Shown).mkString("; ")}$more."
  }
}
