package sparkkinesis.source.options

import scala.concurrent.duration._

import sparkkinesis.client.StreamAccess
import sparkkinesis.client.options._
import sparkkinesis.model.{Position, StreamRef}
import sparkkinesis.shard.ReadSettings
import sparkkinesis.source.options.SourceTable._
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
private[sparkkinesis] final case class SourceOptions(
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
      MaxRecordsPerTrigger -> fetch.limits.maxRecords,
      MaxBytesPerTrigger -> fetch.limits.maxBytes,
      MinPartitions -> minPartitions,
      MaxShardSkew -> fetch.maxShardSkew
    ).collect { case (option, Some(_)) => option.name }

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

private[sparkkinesis] object SourceOptions {

  /** Every option of the source. */
  val All: Seq[OptionSpec[_]] = ConnectionTable.all ++ SourceTable.all

  /** The options that limit the micro-batches of a query. */
  val OfMicroBatches: Seq[OptionSpec[_]] =
    Seq(MaxRecordsPerTrigger, MaxBytesPerTrigger, MaxShardSkew)

  /** The options that end a batch read. */
  val OfBatchReads: Seq[OptionSpec[_]] = Seq(EndingPosition)

  /** Times are not known more exactly at the tip of a shard. */
  private val SmallestSkew = 1.second

  /**
   * @param defaultRegion evaluated only if the options name no region
   * @throws OptionException if an option is missing, invalid or unknown
   */
  def parse(raw: Map[String, String], defaultRegion: => Option[String]): SourceOptions = {
    val options = Options.parse(raw, All)
    val streams = ConnectionOptions.streams(options, defaultRegion)
    SourceOptions(
      streams,
      PositionParser.start(options, StartingPosition, streams.map(_.ref)),
      PositionParser.end(options, EndingPosition, streams.map(_.ref)),
      options(AllowStreamRemoval),
      options.get(MinPartitions),
      maxPartitions(options),
      fetchSettings(options),
      options(Deaggregate),
      options(ShardDiscoveryInterval),
      followsWatermark = !options.contains(MaxShardSkew),
      ConsumerChoice.parse(options, streams),
      replay(options)
    )
  }

  private def maxPartitions(options: Options): Option[Int] = {
    val most = options.get(MaxPartitions)
    for (min <- options.get(MinPartitions) if most.exists(_ < min))
      throw options.invalid(
        MaxPartitions,
        s"$min or more, as 'minPartitions' says",
        "Remove one of them."
      )
    most
  }

  private def fetchSettings(options: Options): FetchSettings = FetchSettings(
    ReadSettings(
      options(MaxRecordsPerFetch),
      options(MinFetchPeriod),
      idlePeriod(options),
      options(FailOnDataLoss),
      options(RetryTimeout)
    ),
    bufferBytes = options.get(FetchBufferSize),
    spillBytes = options(FetchSpillSize),
    limits = ReadLimits(options.get(MaxRecordsPerTrigger), options.get(MaxBytesPerTrigger)),
    maxShardSkew = options.get(MaxShardSkew).flatten
  )

  private def idlePeriod(options: Options): FiniteDuration = {
    for (idle <- options.get(IdleFetchPeriod); min <- options.get(MinFetchPeriod) if idle < min)
      throw OptionException.conflicting(
        s"Option 'idleFetchPeriod' is $idle, which is shorter than 'minFetchPeriod', $min. Use a " +
          "longer period, or remove the option."
      )
    options(IdleFetchPeriod)
  }

  private def replay(options: Options): Option[ReplayOptions] = {
    val replay = ReplayOptions.parse(options)
    if (replay.nonEmpty && options.contains(EndingPosition))
      throw OptionException.conflicting(
        "Option 'endingPosition' is set, but the micro-batches that 'replayBatches' names say " +
          "where the read ends. Remove one of the two options."
      )
    replay
  }
}
