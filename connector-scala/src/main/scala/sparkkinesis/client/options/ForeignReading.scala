package sparkkinesis.client.options

/** The options of other connectors that tell how to read. */
private[client] object ForeignReading {
  import Connectors._
  import ForeignOption._

  private val NoFanOut = "There is no enhanced fan-out here yet: reading is by GetRecords. " +
    "Leave it out."

  private val EndlessRetries = "A failed call is repeated for as long as the query runs, with " +
    "growing pauses. Leave it out."

  private val Bytes = "Records arrive as bytes. Leave it out, and parse column 'data', with " +
    "from_json or from_csv."

  private val batch: Seq[ForeignOption] = Seq(
    Same("maxRecordsPerTrigger", Seq("maxOffsetsPerTrigger"), Kafka),
    Different(
      Seq("maxFetchRecordsPerShard", "executor.maxFetchRecordsPerShard"),
      all(Awslabs, KinesisSql, Glue),
      "'maxRecordsPerTrigger' limits a batch over all shards: multiply by their number.",
      Seq("maxRecordsPerTrigger")
    ),
    Different(
      Seq(
        "maxFetchDuration",
        "maxFetchTimePerShardSec",
        "maxFetchTimeInMs",
        "executor.maxFetchTimeInMs",
        "minOffsetsPerTrigger",
        "maxTriggerDelay"
      ),
      all(Databricks, Awslabs, KinesisSql, Glue, Kafka),
      "A batch takes what has been read ahead, however long that took. Leave it out."
    ),
    Different(
      Seq("shardsPerTask"),
      Databricks,
      "The tasks of a batch do not fetch. For more of them give 'minPartitions'.",
      Seq("minPartitions")
    ),
    Different(
      Seq("coalesceThresholdBlockSize", "coalesceBinSize"),
      Databricks,
      "How records come to tasks is decided here. Leave it out."
    ),
    Different(
      Seq("avoidEmptyBatches", "client.avoidEmptyBatches", "internal.avoidEmptyBatches"),
      all(Awslabs, KinesisSql, Glue),
      "A batch without records is rare: it notes how far reading is complete. Leave it out."
    ),
    Different(
      Seq("addRecordTimestamp"),
      Glue,
      "Column 'approximateArrivalTimestamp' is always there. Leave it out."
    ),
    Different(Seq("classification", "delimiter", "inferSchema", "typeOfData"), Glue, Bytes)
  )

  private val fetching: Seq[ForeignOption] = Seq(
    Same(
      "maxRecordsPerFetch",
      Seq("getRecords.numberOfRecordsPerFetch", "executor.maxRecordPerRead", "maxRecordPerRead"),
      all(Awslabs, KinesisSql, Glue)
    ),
    Same("minFetchPeriod", Seq("getRecords.fetchIntervalMs"), Awslabs, ValueForm.Milliseconds),
    Same(
      "shardDiscoveryInterval",
      Seq("shardFetchInterval", "describeShardInterval", "client.describeShardInterval"),
      all(Databricks, Awslabs, KinesisSql, Glue)
    ),
    Different(
      Seq("idleTimeBetweenReadsInMs", "executor.idleTimeBetweenReadsInMs"),
      all(KinesisSql, Glue),
      "'minFetchPeriod' is the time between two calls to a shard: write 1000 as 1000ms.",
      Seq("minFetchPeriod")
    ),
    Different(
      Seq("addIdleTimeBetweenReads", "executor.addIdleTimeBetweenReads"),
      all(KinesisSql, Glue),
      "Calls to a shard are always 'minFetchPeriod' apart. Leave it out.",
      Seq("minFetchPeriod")
    ),
    Different(
      Seq("maxFetchRate"),
      Databricks,
      "To leave other readers of a shard more, ask it less often: raise 'minFetchPeriod'.",
      Seq("minFetchPeriod")
    ),
    Different(
      Seq("maxShardsPerDescribe"),
      Databricks,
      "Shards are listed 1000 a call. Leave it out."
    ),
    Different(
      Seq("checkNewRecordThreads"),
      Awslabs,
      "What is new is known from reading ahead. Leave it out."
    ),
    Different(
      Seq("clientNumRetries", "clientRetryIntervalsMs", "clientMaxRetryIntervalMs"),
      Awslabs,
      EndlessRetries
    ),
    Different(
      Seq("numRetries", "retryIntervalMs", "maxRetryIntervalMs").flatMap { name =>
        Seq(name, s"client.$name")
      },
      all(KinesisSql, Glue),
      EndlessRetries
    )
  )

  private val fanOut: Seq[ForeignOption] = Seq(
    Same("consumerMode", Seq("consumerType"), Awslabs, ValueForm.ConsumerType, NoFanOut),
    Different(Seq("consumerMode", "consumerName"), all(Databricks, Awslabs), NoFanOut),
    Different(
      Seq(
        "consumerNamePrefix",
        "consumerRefreshInterval",
        "registeredConsumerId",
        "registeredConsumerIdType",
        "requireConsumerDeregistration"
      ),
      Databricks,
      NoFanOut
    ),
    Different(
      Seq("subscribeToShard.timeoutSec", "subscribeToShard.maxRetries"),
      Awslabs,
      NoFanOut
    ),
    Different(Seq("fanoutConsumerARN"), Glue, NoFanOut)
  )

  val All: Seq[ForeignOption] = batch ++ fetching ++ fanOut
}
