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
final case class ReadBounds(
    sinceMillis: Option[Long],
    beforeMillis: Option[Long],
    shards: Option[Set[String]],
    streams: Option[Set[String]]
) {

  /** The records that both require. */
  def and(other: ReadBounds): ReadBounds = ReadBounds(
    (sinceMillis ++ other.sinceMillis).maxOption,
    (beforeMillis ++ other.beforeMillis).minOption,
    ReadBounds.common(shards, other.shards),
    ReadBounds.common(streams, other.streams)
  )
}

object ReadBounds {
  val None: ReadBounds = ReadBounds(scala.None, scala.None, scala.None, scala.None)

  private def common(some: Option[Set[String]], others: Option[Set[String]]): Option[Set[String]] =
    (some ++ others).reduceOption(_ intersect _)
}
