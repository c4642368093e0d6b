package sparkkinesis.sink.metrics

/**
 * How long the records of one writer were ready to be sent while a shard could not take them.
 *
 * @param stream its name or ARN, as the options or the row name it
 */
final case class ShardSleep(stream: String, shard: String, millis: Long)

object ShardSleep {
  private[sink] def longest(sleeps: Iterable[ShardSleep]): Option[ShardSleep] =
    sleeps.filter(_.millis > 0).reduceOption((a, b) => if (b.millis > a.millis) b else a)
}
