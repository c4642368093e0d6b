package sparkkinesis.source.options

import scala.collection.immutable.SortedSet
import scala.concurrent.duration._

import sparkkinesis.client.options.OptionType._
import sparkkinesis.client.options.{OptionTable, OptionType}
import sparkkinesis.model.{ConsumerArn, ServiceLimits}
import sparkkinesis.shard.ReadSettings

/** The options of the source, besides those of the connection. */
object SourceTable extends OptionTable {
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
    """Position where a new query or a batch read begins: `latest`, `trim_horizon`, a timestamp
      such as `2026-01-02T03:04:05Z`, or JSON with one position per stream or shard. See
      [Positions](positions.md). A query that has a checkpoint continues from its checkpoint.""",
    unset = "Streaming: `latest`. Batch: `trim_horizon`."
  )

  val EndingPosition = optional("endingPosition", text)(
    """Position where a batch read ends: `latest`, a timestamp, or JSON with one position per
      stream or shard. See [Positions](positions.md).""",
    unset = "The time at which the read is planned."
  )

  val AllowStreamRemoval = option("allowStreamRemoval", boolean, false)(
    """Whether a query may continue if its checkpoint contains a stream that the options no
      longer name. With `false`, the query fails with
      [`KINESIS_STREAM_REMOVED`](errors.md#kinesis_stream_removed). With `true`, the query
      continues and skips the unread records of that stream. To add a stream to a query, you do
      not need this option: the query reads the new stream from `startingPosition`."""
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
    """Minimum number of tasks per micro-batch. If necessary, the source divides the records of a
      shard among several tasks. The records of a partition key are then in order only within
      each task. If you set neither `maxRecordsPerTrigger` nor `maxBytesPerTrigger`, the source
      does not divide the result of one `GetRecords` request. A small micro-batch may therefore
      have fewer tasks.""",
    unset = "No minimum."
  )

  val MaxPartitions = optional("maxPartitions", number())(
    """Maximum number of tasks per batch, in micro-batches and in real-time mode. It cannot be
      less than `minPartitions`. In real-time mode, each task reads its shards as long as the
      batch lasts and needs a slot of its own. If other stages of the query or other queries need
      slots, set this option to the number of slots that are free for the source.""",
    unset = """Micro-batches: the default parallelism of the application, or `minPartitions` if
      that is more. Real-time mode: the number of slots of the application."""
  )

  val MaxShardSkew = optional("maxShardSkew", duration(least = 1.second).or("none"))(
    """A micro-batch leaves out records that arrived more than this time after the oldest unread
      record of any shard. So no row is late because its shard was behind. With `none`, there is
      no limit. Because arrival times are approximate, the source compares with one second less.
      See [Keep the shards together](../how-to/read.md#keep-the-shards-together).""",
    unset = """Half of the smallest delay of the query's watermarks, at least `1s`. Without a
      watermark: `none`."""
  )

  val FailOnDataLoss = option("failOnDataLoss", boolean, Reads.failOnDataLoss)(
    """Whether the query fails if records expired before the query read them. With `false`, the
      query continues, logs a warning per shard and adds each gap to the metric
      [`lostRanges`](metrics.md)."""
  )

  val Deaggregate = option("deaggregate", boolean, true)(
    """Whether the source unpacks aggregated records of the Kinesis Producer Library (KPL) into
      one row per user record. With `false`, an aggregated record is one row."""
  )

  val ConsumerMode = option("consumerMode", word("polling", "efo"), "polling")(
    """With `polling`, the source calls `GetRecords`. With `efo`, a streaming query reads ahead
      by enhanced fan-out, and `consumerName` or `consumerArn` is required. See [Read by enhanced
      fan-out](../how-to/enhanced-fan-out.md)."""
  )

  val ConsumerName = optional("consumerName", consumerName)(
    """Name of the consumer in each stream: 1 to 128 letters, digits, `_`, `.` and `-`. If a
      stream has no such consumer, the query registers it. Requires `consumerMode=efo`."""
  )

  val ConsumerArns = optional("consumerArn", texts)(
    """ARN of a registered consumer. If the query reads several streams: the ARN of one consumer
      per stream, separated by commas. The query registers nothing. Set this option instead of
      `consumerName`. Requires `consumerMode=efo`."""
  )

  val MaxRecordsPerFetch = option(
    "maxRecordsPerFetch",
    number(Reads.maxRecords).because("This is the limit of GetRecords."),
    Reads.maxRecords
  )(
    """Maximum number of records per `GetRecords` request."""
  )

  val MinFetchPeriod = option("minFetchPeriod", period, Reads.minPeriod)(
    """Minimum time between two `GetRecords` requests to the same shard. The source waits longer
      if the quota of Kinesis requires it: five requests and 2 MiB per second."""
  )

  val IdleFetchPeriod = option("idleFetchPeriod", period, Reads.idlePeriod)(
    """Time between two `GetRecords` requests to a shard that has no new records. It cannot be
      shorter than `minFetchPeriod`. If shards advance together (`maxShardSkew`), at most half of
      that time applies."""
  )

  val FetchBufferSize = optional("fetchBufferSize", size())(
    """Memory per executor for records that the source fetches before a micro-batch needs them.
      If several queries run on an executor, each query uses its value of this option divided by
      the number of queries, but at least one page. If the value is more than half of the heap,
      the executor logs a warning. See [Control memory and
      disk](../how-to/read.md#control-memory-and-disk).""",
    unset = "A sixth of the executor's heap, at most `1g`."
  )

  val FetchSpillSize = option("fetchSpillSize", size(least = 0), FetchSettings().spillBytes)(
    """Local disk space per executor for such records, if they do not fit in `fetchBufferSize`.
      Queries divide it in the same way. With `0`, these records stay in Kinesis until there is
      memory."""
  )

  val ShardDiscoveryInterval =
    option("shardDiscoveryInterval", duration(1.second, 1.hour), 10.seconds)(
      """Time between two checks of the stream's shard list. Each check confirms that the query
      reads every shard and that the stream was not deleted and recreated."""
    )

  val ReplayCheckpoint = optional("replayCheckpoint", text)(
    """Checkpoint location of a streaming query. A batch read then returns the micro-batches in
      `replayBatches` instead of the records between two positions. See [Replay
      micro-batches](../how-to/replay.md)."""
  )

  val ReplayBatches = optional("replayBatches", batches, needs = Seq("replayCheckpoint"))(
    """Numbers of the micro-batches to read again, such as `120-124` or `120,122`, at most
      10,000. Required with `replayCheckpoint`."""
  )

  val ReplaySource = optional("replaySource", text, needs = Seq("replayCheckpoint"))(
    """Number of the source in the query, counted from 0, or its name if Spark stores names.
      Requires `replayCheckpoint`.""",
    unset = "The only source of this connector in the query."
  )

  val RetryTimeout =
    option("retryTimeout", duration(least = 1.second).or("unlimited"), Reads.retryTimeout)(
      """How long calls to one shard may fail in a row until the query fails. One call per 15
      seconds of this time must fail, at least 5 and at most 21, so calls that are slow to fail
      can take longer. Calls that a quota refused do not count. The list of shards may also be
      incomplete for this time, and for at least 8 seconds: then the query fails with
      [`KINESIS_INCOMPLETE_SHARD_LIST`](errors.md#kinesis_incomplete_shard_list). See
      [Retries](../how-to/access.md#retries)."""
    )
}
