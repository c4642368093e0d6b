package sparkkinesis.source.options

import scala.concurrent.duration._

import sparkkinesis.client.StreamAccess
import sparkkinesis.client.options.{ConnectionOptions, OptionException, Options}
import sparkkinesis.model.{Position, ServiceLimits, StreamRef}
import sparkkinesis.source.position.{ByShard, EndingPosition, PositionGrammar, PositionParser}
import sparkkinesis.source.protocol.ReadLimits

/**
 * The parsed options of a source. Serializable; `toString` contains no secret.
 *
 * @param start where reading begins in each stream, if the option is present
 * @param end where a batch read ends in each stream, if the option is present
 * @param minPartitions least number of tasks per batch, if there are enough records
 * @param maxPartitions most tasks per batch
 * @param consumer how shards are read ahead
 * @param deaggregate whether rows are the sub-records of an aggregated record
 * @param replay the micro-batches that a batch read returns again, instead of what lies between
 *   `start` and `end`
 */
final case class SourceOptions(
    streams: Seq[StreamAccess],
    start: Option[Map[StreamRef, ByShard[Position]]],
    end: Option[Map[StreamRef, ByShard[EndingPosition]]],
    allowStreamRemoval: Boolean,
    minPartitions: Option[Int],
    maxPartitions: Option[Int],
    fetch: FetchSettings,
    deaggregate: Boolean,
    discoveryInterval: FiniteDuration,
    consumer: ConsumerChoice = ConsumerChoice.Polling,
    replay: Option[ReplayOptions] = None
) {

  /** The streams as the user named them, for messages. */
  def names: String = streams.map(_.ref).mkString(", ")

  def failOnDataLoss: Boolean = fetch.failOnDataLoss

  /** The options of this query that need micro-batches. */
  def onlyInMicroBatches: Seq[String] =
    Seq(
      "maxRecordsPerTrigger" -> fetch.limits.maxRecords,
      "maxBytesPerTrigger" -> fetch.limits.maxBytes,
      "minPartitions" -> minPartitions,
      "maxShardSkew" -> fetch.maxShardSkew
    ).collect { case (name, Some(_)) => name }

  /** Where a new query begins in a stream. */
  def queryStart(stream: StreamRef): ByShard[Position] =
    start.fold(ByShard[Position](Position.Latest))(_(stream))

  /** Where a batch read begins in a stream. */
  def batchStart(stream: StreamRef): ByShard[Position] =
    start.fold(ByShard[Position](Position.TrimHorizon))(_(stream))

  /** Where a batch read ends in a stream. */
  def batchEnd(stream: StreamRef): ByShard[EndingPosition] =
    end.fold(ByShard[EndingPosition](EndingPosition.Latest))(_(stream))
}

object SourceOptions {

  /** Every option of the source. */
  val Names: Seq[String] =
    ConnectionOptions.Names ++ ConsumerChoice.Names ++ RetryPolicy.Names ++ ReplayOptions.Names ++
      Seq(
        "startingPosition",
        "endingPosition",
        "allowStreamRemoval",
        "maxRecordsPerTrigger",
        "maxBytesPerTrigger",
        "minPartitions",
        "maxPartitions",
        "maxShardSkew",
        "failOnDataLoss",
        "deaggregate",
        "maxRecordsPerFetch",
        "minFetchPeriod",
        "idleFetchPeriod",
        "fetchBufferSize",
        "fetchSpillSize",
        "shardDiscoveryInterval"
      )

  private val DefaultDiscoveryInterval = 10.seconds
  private val DefaultSpillBytes = 4L << 30

  /**
   * @param defaultRegion evaluated only if the options name no region
   * @throws OptionException if an option is missing, invalid or unknown
   */
  def parse(raw: Map[String, String], defaultRegion: => Option[String]): SourceOptions = {
    val options = Options.parse(raw, Names)
    val streams = ConnectionOptions.streams(options, defaultRegion)
    SourceOptions(
      streams,
      new PositionParser(PositionGrammar.Start, options, streams.map(_.ref)).parse(),
      new PositionParser(PositionGrammar.End, options, streams.map(_.ref)).parse(),
      options.boolean("allowStreamRemoval").getOrElse(false),
      options.positiveInt("minPartitions"),
      maxPartitions(options),
      fetchSettings(options),
      options.boolean("deaggregate").getOrElse(true),
      discoveryInterval(options),
      ConsumerChoice.parse(options, streams),
      replay(options)
    )
  }

  private def replay(options: Options): Option[ReplayOptions] = {
    val replay = ReplayOptions.parse(options)
    if (replay.nonEmpty && options.contains("endingPosition"))
      throw OptionException.conflicting(
        "Option 'endingPosition' is set, but the micro-batches that 'replayBatches' names say " +
          "where the read ends. Remove one of the two options."
      )
    replay
  }

  private def maxPartitions(options: Options): Option[Int] = {
    val most = options.positiveInt("maxPartitions")
    for (max <- most; min <- options.positiveInt("minPartitions") if min > max)
      throw options.invalid(
        "maxPartitions",
        s"$min or more, as 'minPartitions' says",
        "Remove one of them."
      )
    most
  }

  /**
   * The discovery interval: at least a second, because all queries of an account share the quota of
   * `ListShards`.
   */
  private def discoveryInterval(options: Options): FiniteDuration =
    options.duration("shardDiscoveryInterval").fold(DefaultDiscoveryInterval) { interval =>
      if (interval < 1.second || interval > 1.hour)
        throw options.invalid("shardDiscoveryInterval", "1s to 1h", "Remove it to use 10s.")
      interval
    }

  private def fetchSettings(options: Options): FetchSettings = FetchSettings(
    maxRecords = maxRecords(options),
    minPeriod = FetchPeriods.min(options),
    idlePeriod = FetchPeriods.idle(options),
    bufferBytes = options.size("fetchBufferSize"),
    spillBytes = options.sizeOrZero("fetchSpillSize").getOrElse(DefaultSpillBytes),
    limits = ReadLimits(
      options.positiveLong("maxRecordsPerTrigger"),
      options.size("maxBytesPerTrigger")
    ),
    failOnDataLoss = options.boolean("failOnDataLoss").getOrElse(true),
    stopAtMillis = None,
    maxShardSkew = maxShardSkew(options),
    retry = RetryPolicy.parse(options)
  )

  /**
   * The largest skew: at least a second, because times are not known more exactly at the tip of a
   * shard.
   */
  private def maxShardSkew(options: Options): Option[FiniteDuration] = {
    val skew = options.duration("maxShardSkew")
    if (skew.exists(_ < 1.second))
      throw options.invalid("maxShardSkew", "1s or longer", "To set no limit, remove the option.")
    skew
  }

  private def maxRecords(options: Options): Int = {
    val max = ServiceLimits.GetRecordsCount
    options.positiveInt("maxRecordsPerFetch").fold(max) { count =>
      if (count > max)
        throw options.invalid(
          "maxRecordsPerFetch",
          s"1 to $max",
          "This is the limit of GetRecords."
        )
      count
    }
  }
}

/** The periods between two `GetRecords` calls to one shard, from the options. */
private[source] object FetchPeriods {
  private val DefaultIdle = 1.second

  /** An iterator must live longer than the period, its jitter, and the delay of the call. */
  private val Longest = ServiceLimits.IteratorLifetime - 1.minute

  /** The period for a shard that has records. */
  def min(options: Options): FiniteDuration =
    period(options, "minFetchPeriod").getOrElse(ServiceLimits.GetRecordsPeriod)

  /** The longest period for a shard that has none. */
  def idle(options: Options): FiniteDuration = {
    val idlePeriod = period(options, "idleFetchPeriod")
    for (idle <- idlePeriod; min <- period(options, "minFetchPeriod") if idle < min)
      throw OptionException.conflicting(
        s"Option ${options.named("idleFetchPeriod")} is $idle, which is shorter than " +
          s"${options.named("minFetchPeriod")}, $min. Use a longer period, or remove the option."
      )
    idlePeriod.getOrElse(DefaultIdle)
  }

  private def period(options: Options, name: String): Option[FiniteDuration] = {
    val period = options.duration(name)
    period.filter(_ > Longest).foreach { _ =>
      throw options.invalid(
        name,
        s"at most ${Longest.toMinutes}m",
        s"A shard iterator expires after ${ServiceLimits.IteratorLifetime}."
      )
    }
    period
  }
}
