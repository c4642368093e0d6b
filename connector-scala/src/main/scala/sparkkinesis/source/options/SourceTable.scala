package sparkkinesis.source.options

import scala.collection.immutable.SortedSet
import scala.concurrent.duration._

import sparkkinesis.client.options.OptionType._
import sparkkinesis.client.options.{OptionTable, OptionType}
import sparkkinesis.model.{ConsumerArn, ServiceLimits}
import sparkkinesis.shard.ReadSettings

/** The options of the source, besides those of the connection. */
private[sparkkinesis] object SourceTable extends OptionTable {
  private val Reads = ReadSettings()

  /** An iterator must live longer than the period, its jitter, and the delay of the call. */
  private def period: OptionType[FiniteDuration] =
    duration(most = ServiceLimits.IteratorLifetime - 1.minute)
      .because(s"A shard iterator expires after ${ServiceLimits.IteratorLifetime}.")

  private def consumerName = OptionType[String](
    "text",
    "1 to 128 of a-z, A-Z, 0-9, _ . -",
    "Correct the name.",
    Some(_).filter(ConsumerArn.isName)
  )

  private def batches: OptionType[SortedSet[Long]] = OptionType(
    "text",
    s"numbers of micro-batches such as 120-124 or 120,122, at most ${BatchNumbers.Most}",
    "A range begins with its smaller number.",
    BatchNumbers.parse
  )

  val StartingPosition = optional("startingPosition", text)(
    """[Position](positions.md) where a new query or a batch read begins, such as `latest`,
      `trim_horizon` or `2026-01-02T03:04:05Z`.""",
    unset = "Streaming: `latest`. Batch: `trim_horizon`."
  )

  val EndingPosition = optional("endingPosition", text)(
    """[Position](positions.md) where a batch read ends.""",
    unset = "The time at which the read is planned."
  )

  val AllowStreamRemoval = option("allowStreamRemoval", boolean, false)(
    """Whether a query continues after you remove a stream from its options. It then skips the
      unread records of this stream. Otherwise, it fails with
      [`KINESIS_STREAM_REMOVED`](errors.md#kinesis_stream_removed). To add a stream, you do not
      need this option."""
  )

  val MaxRecordsPerTrigger = optional("maxRecordsPerTrigger", long)(
    """Maximum number of Kinesis records per micro-batch. An [aggregated
      record](columns.md#aggregated-records) counts as one.""",
    unset = "No limit."
  )

  val MaxBytesPerTrigger = optional("maxBytesPerTrigger", size())(
    """Maximum size of the data per micro-batch.""",
    unset = "No limit."
  )

  val MinPartitions = optional("minPartitions", number())(
    """Minimum number of tasks per micro-batch, for which the source [divides the records of a
      shard](../how-to/read.md#limit-the-size-of-a-micro-batch) among several tasks.""",
    unset = "No minimum."
  )

  val MaxPartitions = optional("maxPartitions", number())(
    """Maximum number of tasks per batch, in micro-batches and in real-time mode, at least
      `minPartitions`.""",
    unset = """Micro-batches: the default parallelism of the application, or `minPartitions` if
      that is more. Real-time mode: the number of slots of the application."""
  )

  val MaxShardSkew = optional("maxShardSkew", duration(least = 1.second).or("none"))(
    """Maximum time by which a micro-batch [reads a shard
      further](../how-to/read.md#keep-the-shards-together) than the oldest unread record of
      another shard.""",
    unset = """Half of the smallest delay of the query's watermarks, at least `1s`. Without a
      watermark: `none`."""
  )

  val FailOnDataLoss = option("failOnDataLoss", boolean, Reads.failOnDataLoss)(
    """What happens if records expired before the query read them. `true`: the query fails.
      `false`: it continues, logs a warning per shard, and counts each gap in
      [`lostRanges`](metrics.md)."""
  )

  val Deaggregate = option("deaggregate", boolean, true)(
    """Whether the source de-aggregates [aggregated records](columns.md#aggregated-records) into one
      row per user record."""
  )

  val ConsumerMode = option("consumerMode", word("polling", "efo"), "polling")(
    """How records arrive: by `GetRecords` requests, or by [enhanced
      fan-out](../how-to/enhanced-fan-out.md), which requires `consumerName` or `consumerArn`."""
  )

  val ConsumerName = optional("consumerName", consumerName)(
    """Name of the consumer in each stream, of 1 to 128 letters, digits, `_`, `.` and `-`, which
      the query registers if a stream has none."""
  )

  val ConsumerArns = optional("consumerArn", texts)(
    """ARN of a registered consumer instead of `consumerName`, one per stream, separated by
      commas. The query registers nothing."""
  )

  val MaxRecordsPerFetch = option(
    "maxRecordsPerFetch",
    number(Reads.maxRecords).because("This is the limit of GetRecords."),
    Reads.maxRecords
  )(
    """Maximum number of records per `GetRecords` request."""
  )

  val MinFetchPeriod = option("minFetchPeriod", period, Reads.minPeriod)(
    """Minimum time between two `GetRecords` requests to the same shard, which the quota of
      Kinesis (five requests and 2 MiB per second) may extend."""
  )

  val IdleFetchPeriod = option("idleFetchPeriod", period, Reads.idlePeriod)(
    """Time between two `GetRecords` requests to a shard without new records, at least
      `minFetchPeriod`."""
  )

  val FetchBufferSize = optional("fetchBufferSize", size())(
    """Memory per executor for [records that are read
      ahead](../how-to/read.md#control-memory-and-disk), which the queries on the executor
      share.""",
    unset = "A sixth of the executor's heap, at most `1g`."
  )

  val FetchSpillSize = option("fetchSpillSize", size(least = 0), FetchSettings().spillBytes)(
    """Local disk space per executor for such records if they do not fit in `fetchBufferSize`, or
      `0` for none."""
  )

  val ShardDiscoveryInterval =
    option("shardDiscoveryInterval", duration(1.second, 1.hour), 10.seconds)(
      """Time between two checks that the query reads every shard in the stream's list, and that
        the stream was not deleted and created again."""
    )

  val ReplayCheckpoint = optional("replayCheckpoint", text)(
    """Checkpoint location of a streaming query whose micro-batches a batch read [returns
      again](../how-to/replay.md)."""
  )

  val ReplayBatches = optional("replayBatches", batches, needs = Seq("replayCheckpoint"))(
    """Numbers of the micro-batches to read again, such as `120-124` or `120,122`, at most
      10,000."""
  )

  val ReplaySource = optional("replaySource", text, needs = Seq("replayCheckpoint"))(
    """Number of the source in the query of `replayCheckpoint`, counted from 0, or its name if
      Spark stores names.""",
    unset = "The only source of this connector in the query."
  )

  val RetryTimeout =
    option("retryTimeout", duration(least = 1.second).or("unlimited"), Reads.retryTimeout)(
      """How long [calls to one shard may fail](../how-to/access.md#retries), or the list of
        shards may be incomplete, until the query fails."""
    )
}
