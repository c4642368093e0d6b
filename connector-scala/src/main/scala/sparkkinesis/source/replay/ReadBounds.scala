package sparkkinesis.source.replay

/**
 * What a batch read may leave out, since nobody wants it.
 *
 * @param sinceMillis records that arrived before
 * @param beforeMillis records that arrived then or later
 * @param shards records of other shards, by name
 * @param streams records of other streams, by name
 */
final case class ReadBounds(
    sinceMillis: Option[Long],
    beforeMillis: Option[Long],
    shards: Option[Set[String]],
    streams: Option[Set[String]]
) {

  /** Wanted by both. */
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
