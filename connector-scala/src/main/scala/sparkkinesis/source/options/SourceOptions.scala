package sparkkinesis.source.options

import scala.concurrent.duration._

import sparkkinesis.client.StreamAccess
import sparkkinesis.client.options.{ConnectionOptions, OptionException, Options}
import sparkkinesis.model.{Position, ServiceLimits, StreamRef}
import sparkkinesis.shard.ReadSettings
import sparkkinesis.source.position.{ByShard, PositionParser}
import sparkkinesis.source.protocol.ReadLimits

/**
 * The parsed options of a source. Serializable; `toString` contains no secret.
 *
 * @param start where reading begins in each stream, if the option is present
 * @param end where a batch read ends in each stream, if the option is present
 * @param minPartitions least number of tasks per batch, if there are enough records
 * @param maxPartitions most tasks per batch
 * @param followsWatermark whether the shards of a query with a watermark advance together: option
 *   `maxShardSkew` is not set
 * @param consumer how shards are read ahead
 * @param deaggregate whether rows are the sub-records of an aggregated record
 * @param replay the micro-batches that a batch read returns again, instead of what lies between
 *   `start` and `end`
 */
final case class SourceOptions(
    streams: Seq[StreamAccess],
    start: Option[Map[StreamRef, ByShard[Position]]],
    end: Option[Map[StreamRef, ByShard[Position]]],
    allowStreamRemoval: Boolean,
    minPartitions: Option[Int],
    maxPartitions: Option[Int],
    fetch: FetchSettings,
    deaggregate: Boolean,
    discoveryInterval: FiniteDuration,
    followsWatermark: Boolean = true,
    consumer: ConsumerChoice = ConsumerChoice.Polling,
    replay: Option[ReplayOptions] = None
) {

  /** The streams as the user named them, for messages. */
  def names: String = streams.map(_.ref).mkString(", ")

  def failOnDataLoss: Boolean = fetch.reads.failOnDataLoss

  /**
   * The options of a query with these watermarks. Without `maxShardSkew`, its shards advance
   * together: no row may be late because other shards were read further. Half of the delay is left
   * for rows that are late when they are written.
   *
   * @param delays how late the rows of the query may be
   */
  def withWatermarks(delays: Seq[FiniteDuration]): SourceOptions = delays.sorted.headOption match {
    case Some(smallest) if followsWatermark =>
      val skew = (smallest / 2).max(SourceOptions.SmallestSkew)
      copy(fetch = fetch.copy(maxShardSkew = Some(skew)))
    case _ => this
  }

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

  /** Where a batch read ends in a stream: each record before it is read. */
  def batchEnd(stream: StreamRef): ByShard[Position] =
    end.fold(ByShard[Position](Position.Latest))(_(stream))
}

object SourceOptions {

  /** Every option of the source. */
  val Names: Seq[String] =
    ConnectionOptions.Names ++ ConsumerChoice.Names ++ ReplayOptions.Names ++
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
        "shardDiscoveryInterval",
        "retryTimeout"
      )

  /** Times are not known more exactly at the tip of a shard. */
  private val SmallestSkew = 1.second

  /** An iterator must live longer than the period, its jitter, and the delay of the call. */
  private val LongestPeriod = ServiceLimits.IteratorLifetime - 1.minute

  /**
   * @param defaultRegion evaluated only if the options name no region
   * @throws OptionException if an option is missing, invalid or unknown
   */
  def parse(raw: Map[String, String], defaultRegion: => Option[String]): SourceOptions = {
    val options = Options.parse(raw, Names)
    new Parsing(options, ConnectionOptions.streams(options, defaultRegion)).parse()
  }

  private final class Parsing(options: Options, streams: Seq[StreamAccess]) {
    private val default = FetchSettings()

    def parse(): SourceOptions = SourceOptions(
      streams,
      PositionParser.start(options, streams.map(_.ref)),
      PositionParser.end(options, streams.map(_.ref)),
      options.boolean("allowStreamRemoval").getOrElse(false),
      options.positiveInt("minPartitions"),
      maxPartitions,
      fetchSettings,
      options.boolean("deaggregate").getOrElse(true),
      // All queries of an account share the quota of ListShards.
      checked("shardDiscoveryInterval", options.duration, "1s to 1h", "Remove it to use 10s.") {
        it => it >= 1.second && it <= 1.hour
      }.getOrElse(10.seconds),
      followsWatermark = !options.contains("maxShardSkew"),
      ConsumerChoice.parse(options, streams),
      replay
    )

    /** A value of the right type, which also has to fulfil a condition. */
    private def checked[A](
        name: String,
        read: String => Option[A],
        expected: String,
        remedy: String
    )(isValid: A => Boolean): Option[A] = {
      val value = read(name)
      if (!value.forall(isValid)) throw options.invalid(name, expected, remedy)
      value
    }

    private def replay: Option[ReplayOptions] = {
      val replay = ReplayOptions.parse(options)
      if (replay.nonEmpty && options.contains("endingPosition"))
        throw OptionException.conflicting(
          "Option 'endingPosition' is set, but the micro-batches that 'replayBatches' names say " +
            "where the read ends. Remove one of the two options."
        )
      replay
    }

    private def maxPartitions: Option[Int] = {
      val min = options.positiveInt("minPartitions").getOrElse(1)
      val expected = s"$min or more, as 'minPartitions' says"
      checked("maxPartitions", options.positiveInt, expected, "Remove one of them.")(_ >= min)
    }

    private def readSettings: ReadSettings = ReadSettings(
      maxRecords = checked(
        "maxRecordsPerFetch",
        options.positiveInt,
        s"1 to ${default.reads.maxRecords}",
        "This is the limit of GetRecords."
      )(_ <= default.reads.maxRecords).getOrElse(default.reads.maxRecords),
      minPeriod = period("minFetchPeriod").getOrElse(default.reads.minPeriod),
      idlePeriod = idlePeriod.getOrElse(default.reads.idlePeriod),
      failOnDataLoss = options.boolean("failOnDataLoss").getOrElse(default.reads.failOnDataLoss),
      retryTimeout = retryTimeout
    )

    private def fetchSettings: FetchSettings = FetchSettings(
      readSettings,
      bufferBytes = options.size("fetchBufferSize"),
      spillBytes = options.sizeOrZero("fetchSpillSize").getOrElse(default.spillBytes),
      limits = ReadLimits(
        options.positiveLong("maxRecordsPerTrigger"),
        options.size("maxBytesPerTrigger")
      ),
      maxShardSkew = maxShardSkew
    )

    private def maxShardSkew: Option[FiniteDuration] = limit(
      "maxShardSkew",
      "none",
      "Without the option, it is half of the smallest delay of the query's watermarks.",
      default.maxShardSkew
    )

    private def period(name: String): Option[FiniteDuration] = checked(
      name,
      options.duration,
      s"at most ${LongestPeriod.toMinutes}m",
      s"A shard iterator expires after ${ServiceLimits.IteratorLifetime}."
    )(_ <= LongestPeriod)

    private def idlePeriod: Option[FiniteDuration] = {
      val idlePeriod = period("idleFetchPeriod")
      for (idle <- idlePeriod; min <- period("minFetchPeriod") if idle < min)
        throw OptionException.conflicting(
          s"Option ${options.named("idleFetchPeriod")} is $idle, which is shorter than " +
            s"${options.named("minFetchPeriod")}, $min. Use a longer period, or remove the option."
        )
      idlePeriod
    }

    private def retryTimeout: Option[FiniteDuration] =
      limit("retryTimeout", "unlimited", "Remove it to use 5m.", default.reads.retryTimeout)

    /** @return `None` if the value is the word */
    private def limit(
        name: String,
        word: String,
        remedy: String,
        otherwise: Option[FiniteDuration]
    ): Option[FiniteDuration] =
      if (options.text(name).exists(_.equalsIgnoreCase(word))) None
      else
        checked(name, options.duration, s"1s or longer, or $word", remedy)(_ >= 1.second)
          .orElse(otherwise)
  }
}
