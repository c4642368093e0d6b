package sparkkinesis.source.replay

import sparkkinesis.compat._

/**
 * The part of a batch query's records that its filters require. `None` sets no bound.
 *
 * @param sinceMillis records that arrived at this time or later
 * @param beforeMillis records that arrived before this time
 * @param shards records of these shards, by name
 * @param streams records of these streams, by name
 */
private[sparkkinesis] final case class ReadBounds(
    sinceMillis: Option[Long] = None,
    beforeMillis: Option[Long] = None,
    shards: Option[Set[String]] = None,
    streams: Option[Set[String]] = None
) {

  /** The records that both require. */
  def and(other: ReadBounds): ReadBounds = ReadBounds(
    (sinceMillis ++ other.sinceMillis).maxOption,
    (beforeMillis ++ other.beforeMillis).minOption,
    (shards ++ other.shards).reduceOption(_ intersect _),
    (streams ++ other.streams).reduceOption(_ intersect _)
  )
}
