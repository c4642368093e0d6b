package sparkkinesis.simulator.state

import scala.concurrent.duration._

import sparkkinesis.simulator.record.ShardNumbering

/**
 * What AWS does and a simple service does not. Everything is off by default.
 *
 * The command line of the server, the arguments of `LocalKinesis` in Python and the journal have
 * the same names, in their own spelling. `Behaviour.settings` describes them. For readers, chance
 * depends only on the seed, the shard and the position of the record, so that a repeated call has
 * the same result.
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
 * @param endlessSubscriptions share of the closed shards whose subscriptions do not end with the
 *   shard. They send empty events that say that nothing follows.
 * @param replayedSubscriptions share of the subscriptions that begin at the oldest record, whatever
 *   position was asked for
 * @param failedEntries share of the entries of `PutRecords` that fail with `InternalFailure`
 * @param shuffledPuts share of the calls of `PutRecords` that write their entries in another order
 *   than that of the request
 * @param reshardInterval time before each split or merge of `UpdateShardCount`, and of an on-demand
 *   stream that scales. Meanwhile the stream is `UPDATING`, and accepts records.
 * @param onDemandScaling an on-demand stream doubles its shards when it received more records per
 *   open shard within a second; 0 means never
 * @param seed seed of all chance
 */
final case class Behaviour(
    visibilityDelay: FiniteDuration = Duration.Zero,
    arrivalFall: FiniteDuration = Duration.Zero,
    emptyPages: Double = 0,
    lateShardEnds: Double = 0,
    endlessSubscriptions: Double = 0,
    replayedSubscriptions: Double = 0,
    failedEntries: Double = 0,
    shuffledPuts: Double = 0,
    reshardInterval: FiniteDuration = Duration.Zero,
    onDemandScaling: Int = 0,
    seed: Long = 0
) {
  import Behaviour._

  requireTime("visibilityDelay", visibilityDelay)
  requireTime("arrivalFall", arrivalFall)
  requireShare("emptyPages", emptyPages)
  requireShare("lateShardEnds", lateShardEnds)
  requireShare("endlessSubscriptions", endlessSubscriptions)
  requireShare("replayedSubscriptions", replayedSubscriptions)
  requireShare("failedEntries", failedEntries)
  requireShare("shuffledPuts", shuffledPuts)
  requireTime("reshardInterval", reshardInterval)
  require(onDemandScaling >= 0, s"onDemandScaling is $onDemandScaling: expected 0 or more.")

  /** How long readers do not see the record at the position, in milliseconds. */
  private[simulator] def delayMillis(shard: ShardNumbering, position: Long): Long =
    upTo(visibilityDelay, Delay, shard, position)

  /** How long the record at the position arrived before now, in milliseconds. */
  private[simulator] def fallMillis(shard: ShardNumbering, position: Long): Long =
    upTo(arrivalFall, Fall, shard, position)

  /** The number of empty pages before the record at the position. */
  private[simulator] def emptyPagesBefore(shard: ShardNumbering, position: Long): Int =
    if (!strikes(emptyPages, EmptyPage, shard, position)) 0
    else 1 + (dice(EmptyPages, shard, position) % MostEmptyPages).toInt

  /** Whether the end of the shard comes after its last page or event with records. */
  private[simulator] def endsLate(shard: ShardNumbering): Boolean =
    strikes(lateShardEnds, LateEnd, shard, 0)

  /** Whether subscriptions to the closed shard do not end with it. */
  private[simulator] def neverEnds(shard: ShardNumbering): Boolean =
    strikes(endlessSubscriptions, NoEnd, shard, 0)

  /** Whether a subscription from the position begins at the oldest record. */
  private[simulator] def isReplayed(shard: ShardNumbering, position: Long): Boolean =
    strikes(replayedSubscriptions, Replay, shard, position)

  private def upTo(
      most: FiniteDuration,
      what: Long,
      shard: ShardNumbering,
      position: Long
  ): Long = {
    val millis = most.toMillis
    if (millis == 0) 0 else dice(what, shard, position) % (millis + 1)
  }

  private def strikes(share: Double, what: Long, shard: ShardNumbering, position: Long): Boolean =
    share > 0 && (dice(what, shard, position) >>> 10) < share * (1L << 53)

  /** A number from 0 that looks random. */
  private def dice(what: Long, shard: ShardNumbering, position: Long): Long =
    Seq(what, shard.epoch, shard.shard.toLong, position).foldLeft(mixed(seed)) { (sofar, part) =>
      mixed(sofar + part)
    } >>> 1
}

object Behaviour {
  private val Delay = 1L
  private val Fall = 2L
  private val EmptyPage = 3L
  private val EmptyPages = 4L
  private val LateEnd = 5L
  private val NoEnd = 6L
  private val Replay = 7L

  private val MostEmptyPages = 3

  /** The time without records that an iterator crosses with an empty page. */
  private[simulator] val MillisOfEmptyPage = 1000L

  /**
   * A field as text, for the command line and the journal.
   *
   * @param example a value, to show its format
   * @param read returns `None` if the text is no value of the field
   */
  private[simulator] final case class Setting(
      name: String,
      example: String,
      effect: String,
      written: Behaviour => String,
      read: (Behaviour, String) => Option[Behaviour]
  )

  private[simulator] val settings: Vector[Setting] = Vector(
    time("visibility-delay", "readers see a record up to this time after its acknowledgement")(
      _.visibilityDelay,
      (all, value) => all.copy(visibilityDelay = value)
    ),
    time("arrival-fall", "arrival times within a shard fall by up to this time")(
      _.arrivalFall,
      (all, value) => all.copy(arrivalFall = value)
    ),
    share("empty-pages", "share of the pages with records that empty pages precede")(
      _.emptyPages,
      (all, value) => all.copy(emptyPages = value)
    ),
    share("late-shard-ends", "share of the closed shards that end one page later")(
      _.lateShardEnds,
      (all, value) => all.copy(lateShardEnds = value)
    ),
    share("endless-subscriptions", "share of the closed shards whose subscriptions do not end")(
      _.endlessSubscriptions,
      (all, value) => all.copy(endlessSubscriptions = value)
    ),
    share("replayed-subscriptions", "share of the subscriptions that begin at the oldest record")(
      _.replayedSubscriptions,
      (all, value) => all.copy(replayedSubscriptions = value)
    ),
    share("failed-entries", "share of the entries of PutRecords that fail: InternalFailure")(
      _.failedEntries,
      (all, value) => all.copy(failedEntries = value)
    ),
    share("shuffled-puts", "share of the calls of PutRecords that write in another order")(
      _.shuffledPuts,
      (all, value) => all.copy(shuffledPuts = value)
    ),
    time("reshard-interval", "time before each split or merge of UpdateShardCount")(
      _.reshardInterval,
      (all, value) => all.copy(reshardInterval = value)
    ),
    Setting(
      "on-demand-scaling",
      "10",
      "records per second and shard that make an on-demand stream scale",
      _.onDemandScaling.toString,
      (all, text) => text.toIntOption.filter(_ >= 0).map(it => all.copy(onDemandScaling = it))
    ),
    Setting(
      "seed",
      "7",
      "seed of the chance in these",
      _.seed.toString,
      (all, text) => text.toLongOption.map(seed => all.copy(seed = seed))
    )
  )

  /** The behaviour with another value of a setting; `None` if there is no such setting or value. */
  private[simulator] def changed(all: Behaviour, name: String, text: String): Option[Behaviour] =
    settings.find(_.name == name).flatMap(_.read(all, text))

  private def time(name: String, effect: String)(
      of: Behaviour => FiniteDuration,
      set: (Behaviour, FiniteDuration) => Behaviour
  ): Setting = Setting(
    name,
    "200ms",
    effect,
    all => TimeText(of(all)),
    (all, text) => TimeText.unapply(text).map(set(all, _))
  )

  private def share(name: String, effect: String)(
      of: Behaviour => Double,
      set: (Behaviour, Double) => Behaviour
  ): Setting = Setting(
    name,
    "0.5",
    effect,
    all => of(all).toString,
    (all, text) => text.toDoubleOption.filter(it => it >= 0 && it <= 1).map(set(all, _))
  )

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

/** A time as text, such as 200ms, 2s or 1m. */
private[simulator] object TimeText {
  private val Time = "(\\d{1,9})(ms|s|m)".r
  private val Units = Map("ms" -> 1.milli, "s" -> 1.second, "m" -> 1.minute)

  def apply(time: FiniteDuration): String = s"${time.toMillis}ms"

  def unapply(text: String): Option[FiniteDuration] = text match {
    case Time(digits, unit) => Some(Units(unit) * digits.toLong)
    case _ => None
  }
}
