package sparkkinesis.source.plan

import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.source.protocol.ShardRange

/** Which of a batch's ranges must be read one after the other. */
object Lineage {

  /**
   * The ranges in chains: of shards that descend from one another, or have a descendant in common, each
   * parent before its children. All other ranges stand alone, as all do but in a batch of `Trigger.Once`.
   *
   * @param end of the batch, which names the parents of every shard that was read behind them
   */
  def chains(ranges: Seq[ShardRange], end: SourceOffset): Seq[Vector[ShardRange]] = {
    val parents = parentsOf(ranges, end)
    if (parents.isEmpty) ranges.map(Vector(_))
    else {
      val family = families(parents)
      val generation = generations(parents)
      ranges
        .groupBy(range => family.getOrElse(range.shard, range.shard))
        .toSeq
        .sortBy { case (eldest, _) => eldest }
        .map { case (_, chain) =>
          chain.toVector.sortBy(range => (generation(range.shard), range.shard))
        }
    }
  }

  /** Those that are read in the same batch. */
  private def parentsOf(
      ranges: Seq[ShardRange],
      end: SourceOffset
  ): Map[StreamShard, Set[StreamShard]] = {
    lazy val read = ranges.map(_.shard).toSet
    val all = for {
      (arn, offset) <- end.streams.iterator
      (id, shard) <- offset.shards.iterator if shard.waitsFor.nonEmpty
      child = StreamShard(arn, id) if read(child)
    } yield child -> shard.waitsFor.map(StreamShard(arn, _)).intersect(read)
    all.filter { case (_, parents) => parents.nonEmpty }.toMap
  }

  /** Of each shard that is related to another: the first of all its relatives. */
  private def families(
      parents: Map[StreamShard, Set[StreamShard]]
  ): Map[StreamShard, StreamShard] = {
    val all = parents.foldLeft(Map.empty[StreamShard, Set[StreamShard]]) {
      case (known, (child, others)) =>
        val relatives = (others + child).flatMap(shard => known.getOrElse(shard, Set(shard)))
        known ++ relatives.map(_ -> relatives)
    }
    all.transform((_, relatives) => relatives.min)
  }

  /** How many parents, one after the other, come before a shard at most. */
  private def generations(
      parents: Map[StreamShard, Set[StreamShard]]
  ): StreamShard => Int = {
    val known = scala.collection.mutable.Map.empty[StreamShard, Int]
    def of(shard: StreamShard): Int = known.getOrElse(
      shard, {
        val depth = parents.get(shard).fold(0)(_.map(of).max + 1)
        known.update(shard, depth)
        depth
      }
    )
    of
  }
}
