package sparkkinesis.source.protocol

/** How many marks a query may have. The driver holds them all, and each takes about 200 bytes. */
private[source] object MarkBudget {
  private val OfQuery = 200000

  /** Fewer would make batches with limits much smaller than the limits. */
  private val LeastOfShard = 16

  /** Most marks of one shard, if the query reads so many shards. */
  def ofShard(shards: Int): Int = math.max(LeastOfShard, OfQuery / math.max(1, shards))
}
