package sparkkinesis.source.checkpoint

import sparkkinesis.model.{HashKeyRange, Shard, ShardId, StreamRef}
import sparkkinesis.shard.SourceException

/**
 * What a listing of shards lacks. Its records are not read before it is listed.
 *
 * @param hashKeys that no listed shard has
 * @param parents shards that have children and are not listed, although the service has them
 */
private[sparkkinesis] final case class ListingHole(
    hashKeys: Seq[HashKeyRange],
    parents: Set[ShardId] = Set.empty
) {
  def isEmpty: Boolean = hashKeys.isEmpty && parents.isEmpty

  /** Number of ranges and parents. */
  def size: Int = hashKeys.size + parents.size

  /** What both lack. */
  def intersect(other: ListingHole): ListingHole = ListingHole(
    for {
      one <- hashKeys
      two <- other.hashKeys
      both <- one.intersect(two)
    } yield both,
    parents.intersect(other.parents)
  )

  def text(stream: StreamRef): String = {
    def part(what: String, items: Seq[Any]) =
      if (items.isEmpty) None else Some(s"$what ${items.take(ListingHole.Shown).mkString(", ")}")
    val parts = part("a shard with the hash keys", hashKeys) ++
      part("the parents", parents.toSeq.sorted)
    s"ListShards of stream $stream returns neither all open shards nor all their parents: it " +
      s"lacks ${parts.mkString(" and ")}."
  }

  /** @param since for how long the service has returned such a list */
  def failure(stream: StreamRef, since: String): SourceException = new SourceException(
    "KINESIS_INCOMPLETE_SHARD_LIST",
    s"${text(stream)} $since. The query cannot read the records of these shards. Wait until " +
      "ListShards returns them, then start the query again."
  )
}

private[sparkkinesis] object ListingHole {
  val None: ListingHole = ListingHole(Nil)

  /** Number of ranges, and of parents, in a message. */
  private val Shown = 5

  /** The hash keys that only shards with a listed child have. */
  def ofTips(listed: Seq[Shard]): ListingHole = {
    val parents = listed.flatMap(_.parents).toSet
    without(listed.filterNot(shard => parents(shard.id)))
  }

  /** The hash keys of no open shard. A server that shows every shard as closed says nothing. */
  def ofOpen(listed: Seq[Shard]): ListingHole = {
    val open = listed.filter(_.isOpen)
    if (open.isEmpty) None else without(open)
  }

  private def without(shards: Seq[Shard]) =
    ListingHole(HashKeyRange.All.without(shards.map(_.hashKeys)))
}
