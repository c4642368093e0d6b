package sparkkinesis.source.options

import scala.concurrent.duration._

import sparkkinesis.client.StreamAccess
import sparkkinesis.client.options.{ConnectionOptions, Options}
import sparkkinesis.model.{ServiceLimits, StreamRef}
import sparkkinesis.source.position.{ByShard, EndingPosition, PositionGrammar, StartingPosition}
import sparkkinesis.source.protocol.ReadLimits

/**
 * What a user said about reading, parsed once. Travels to executors; prints no secret.
 *
 * @param start where each stream begins, if that is said
 * @param end where a batch read ends in each stream, if that is said
 * @param minPartitions tasks a batch, where there are records enough to share out
 * @param deaggregate whether an aggregate's sub-records are delivered in its place
 */
final case class SourceOptions(
    streams: Seq[StreamAccess],
    start: Option[Map[StreamRef, ByShard[StartingPosition]]],
    end: Option[Map[StreamRef, ByShard[EndingPosition]]],
    allowStreamRemoval: Boolean,
    minPartitions: Option[Int],
    fetch: FetchSettings,
    deaggregate: Boolean,
    discoveryInterval: FiniteDuration
) {

  /** For messages: the streams as they were named. */
  def names: String = streams.map(_.ref).mkString(", ")

  def failOnDataLoss: Boolean = fetch.failOnDataLoss

  /** Where one of the streams begins in a new query. */
  def queryStart(stream: StreamRef): ByShard[StartingPosition] =
    start.fold(ByShard[StartingPosition](StartingPosition.Latest))(_(stream))

  /** Where one of the streams begins in a batch read. */
  def batchStart(stream: StreamRef): ByShard[StartingPosition] =
    start.fold(ByShard[StartingPosition](StartingPosition.TrimHorizon))(_(stream))

  /** Where one of the streams ends in a batch read. */
  def batchEnd(stream: StreamRef): ByShard[EndingPosition] =
    end.fold(ByShard[EndingPosition](EndingPosition.Latest))(_(stream))
}

object SourceOptions {

  /** Every option of the source. */
  val Names: Seq[String] = ConnectionOptions.Names ++ Seq(
    "startingPosition",
    "endingPosition",
    "allowStreamRemoval",
    "maxRecordsPerTrigger",
    "maxBytesPerTrigger",
    "minPartitions",
    "failOnDataLoss",
    "deaggregate",
    "maxRecordsPerFetch",
    "minFetchPeriod",
    "idleFetchPeriod",
    "fetchBufferSize",
    "shardDiscoveryInterval"
  )

  private val DefaultDiscoveryInterval = 10.seconds
  private val DefaultBufferBytes = 256L * 1024 * 1024

  /**
   * @param defaultRegion asked only where the options do not tell
   * @throws OptionException where something is missing, wrong or unknown
   */
  def parse(raw: Map[String, String], defaultRegion: => Option[String]): SourceOptions = {
    val options = Options.parse(raw, Names)
    val streams = ConnectionOptions.streams(options, defaultRegion)
    SourceOptions(
      streams,
      PositionGrammar.Start.parse(options, streams.map(_.ref)),
      PositionGrammar.End.parse(options, streams.map(_.ref)),
      options.boolean("allowStreamRemoval").getOrElse(false),
      options.positiveInt("minPartitions"),
      fetchSettings(options),
      options.boolean("deaggregate").getOrElse(true),
      discoveryInterval(options)
    )
  }

  /** Soon enough to matter, and seldom enough for all of an account's queries. */
  private def discoveryInterval(options: Options): FiniteDuration =
    options.duration("shardDiscoveryInterval").fold(DefaultDiscoveryInterval) { interval =>
      if (interval < 1.second || interval > 1.hour)
        throw options.invalid("shardDiscoveryInterval", "1s to 1h", "Leave it out to have 10s.")
      interval
    }

  private def fetchSettings(options: Options): FetchSettings = FetchSettings(
    maxRecords = maxRecords(options),
    minPeriod = FetchPeriods.min(options),
    idlePeriod = FetchPeriods.idle(options),
    bufferBytes = options.size("fetchBufferSize").getOrElse(DefaultBufferBytes),
    limits = ReadLimits(
      options.positiveLong("maxRecordsPerTrigger"),
      options.size("maxBytesPerTrigger")
    ),
    failOnDataLoss = options.boolean("failOnDataLoss").getOrElse(true),
    stopAtMillis = None
  )

  private def maxRecords(options: Options): Int = {
    val max = ServiceLimits.GetRecordsCount
    options.positiveInt("maxRecordsPerFetch").fold(max) { count =>
      if (count > max)
        throw options.invalid("maxRecordsPerFetch", s"1 to $max", "It is GetRecords' own limit.")
      count
    }
  }
}
