package sparkkinesis.sink.metrics

/**
 * The time from a writer's first record to its last answer; of several writers, from the first to
 * the last.
 *
 * @param from in milliseconds
 * @param to not before `from`, except if there was no record
 */
final case class WriteTime(from: Long, to: Long) {

  /** The duration, at least one second, because quotas are per second. */
  def millis: Long = math.max(1000L, if (this == WriteTime.None) 0 else to - from)

  def shifted(millis: Long): WriteTime =
    if (this == WriteTime.None) this else WriteTime(from + millis, to + millis)

  def +(other: WriteTime): WriteTime =
    WriteTime(math.min(from, other.from), math.max(to, other.to))
}

object WriteTime {
  val None: WriteTime = WriteTime(Long.MaxValue, Long.MinValue)
}
