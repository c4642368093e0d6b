package sparkkinesis.simulator.state

import scala.concurrent.duration._

/**
 * What AWS does and a simple service does not. Everything is off by default.
 *
 * The command line of the server, the arguments of `LocalKinesis` in Python and the journal use the
 * names of these fields. `Behaviour.settings` describes them. Chance depends only on the seed, the
 * shard and the position of the record, so that a repeated call has the same result.
 *
 * @param visibilityDelay readers see a record up to this time after its acknowledgement, in
 *   sequence order within its shard. Meanwhile a page at the tip says that nothing follows, and a
 *   closed shard does not end.
 * @param arrivalFall the arrival time of a record is up to this time before its acknowledgement, so
 *   arrival times within a shard fall by at most this time
 * @param emptyPages share of the pages of `GetRecords` with records that one to three empty pages
 *   precede. Each of these advances the iterator, and its `MillisBehindLatest` is smaller.
 * @param lateShardEnds share of the closed shards whose last records are not their end: the next
 *   page or event is empty and is the end
 * @param seed seed of all chance
 */
final case class Behaviour(
    visibilityDelay: FiniteDuration = Duration.Zero,
    arrivalFall: FiniteDuration = Duration.Zero,
    emptyPages: Double = 0,
    lateShardEnds: Double = 0,
    seed: Long = 0
) {
  import Behaviour._

  requireTime("visibilityDelay", visibilityDelay)
  requireTime("arrivalFall", arrivalFall)
  requireShare("emptyPages", emptyPages)
  requireShare("lateShardEnds", lateShardEnds)

  /** How long readers do not see the next record of the shard, in milliseconds. */
  private[simulator] def delayMillis(shard: ShardState): Long =
    upTo(visibilityDelay, Delay, shard, shard.end)

  /** How long the next record of the shard arrived before now, in milliseconds. */
  private[simulator] def fallMillis(shard: ShardState): Long =
    upTo(arrivalFall, Fall, shard, shard.end)

  /** The number of empty pages before the record at the position. */
  private[simulator] def emptyPagesBefore(shard: ShardState, position: Long): Int =
    if (!strikes(emptyPages, EmptyPage, shard, position)) 0
    else 1 + (dice(EmptyPages, shard, position) % MostEmptyPages).toInt

  /** Whether the end of the shard comes after its last page or event with records. */
  private[simulator] def endsLate(shard: ShardState): Boolean =
    strikes(lateShardEnds, LateEnd, shard, 0)

  private def upTo(most: FiniteDuration, what: Long, shard: ShardState, position: Long): Long = {
    val millis = most.toMillis
    if (millis == 0) 0 else dice(what, shard, position) % (millis + 1)
  }

  private def strikes(share: Double, what: Long, shard: ShardState, position: Long): Boolean =
    share > 0 && (dice(what, shard, position) >>> 10) < share * (1L << 53)

  /** A number from 0 that looks random. */
  private def dice(what: Long, shard: ShardState, position: Long): Long =
    Seq(what, shard.epoch, shard.number.toLong, position).foldLeft(mixed(seed)) { (sofar, part) =>
      mixed(sofar + part)
    } >>> 1
}

object Behaviour {
  private val Delay = 1L
  private val Fall = 2L
  private val EmptyPage = 3L
  private val EmptyPages = 4L
  private val LateEnd = 5L

  private val MostEmptyPages = 3

  /** The time without records that an iterator crosses with an empty page. */
  private[simulator] val MillisOfEmptyPage = 1000L

  /** The output function of SplitMix64. */
  private def mixed(number: Long): Long = {
    val one = number + 0x9e3779b97f4a7c15L
    val two = (one ^ (one >>> 30)) * 0xbf58476d1ce4e5b9L
    val three = (two ^ (two >>> 27)) * 0x94d049bb133111ebL
    three ^ (three >>> 31)
  }

  private def requireTime(name: String, time: FiniteDuration): Unit =
    require(time.toNanos >= 0, s"$name is $time: expected 0 or more.")

  private def requireShare(name: String, share: Double): Unit =
    require(share >= 0 && share <= 1, s"$name is $share: expected 0 to 1.")
}
