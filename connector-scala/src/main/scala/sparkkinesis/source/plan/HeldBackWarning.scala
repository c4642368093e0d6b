package sparkkinesis.source.plan

import java.time.Instant

import scala.concurrent.duration._

/**
 * Warns if a shard that holds others back is not read any further. Used by one thread at a time.
 *
 * @param names of the query's streams
 */
private[sparkkinesis] final class HeldBackWarning(names: String) {
  import HeldBackWarning._

  private var last = Option.empty[HeldBack]
  private var since: FiniteDuration = Duration.Zero // when that shard was read up to there
  private var warnedAt = Option.empty[FiniteDuration]

  /**
   * @param current who holds shards back
   * @param now by a clock that never jumps
   * @return what to log
   */
  def seen(current: Option[HeldBack], now: FiniteDuration): Option[String] = {
    if (current.map(place) != last.map(place)) since = now
    last = current
    val isDue = now - since >= Patience && warnedAt.forall(now - _ >= Period)
    current.filter(_ => isDue).map { it =>
      warnedAt = Some(now)
      text(it)
    }
  }

  private def place(it: HeldBack) = (it.by, it.upToMillis)

  private def text(it: HeldBack): String = {
    val upTo =
      if (it.upToMillis == 0) "Nothing was read of it yet"
      else s"It was read up to ${Instant.ofEpochMilli(it.upToMillis)}"
    s"${it.shards} shards of $names wait for ${it.by}. $upTo, and no further for $Patience. " +
      "Shards advance together, because the query has a watermark or 'maxShardSkew'. Look for " +
      "refused or failed reads of this shard in the logs of the executors."
  }
}

private object HeldBackWarning {
  private val Patience = 30.seconds
  private val Period = 5.minutes
}
