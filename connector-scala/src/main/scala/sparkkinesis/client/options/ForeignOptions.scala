package sparkkinesis.client.options

import sparkkinesis.client.options.ForeignValues.{Milliseconds, Unchanged, words}

/** The options of other Spark connectors, as far as their names differ from ours. */
private[sparkkinesis] object ForeignOptions {
  private val Databricks = "Databricks"
  private val Awslabs = "awslabs"
  private val Glue = "Glue"
  private val Kafka = "Kafka"
  private val SqlAndGlue = "kinesis-sql, Glue"
  private val Sinks = "awslabs, kinesis-sql"
  private val Sources = "awslabs, kinesis-sql, Glue"

  private val Aggregation = words("true" -> "kpl", "false" -> "none")
  private val ConsumerType = words("GetRecords" -> "polling", "SubscribeToShard" -> "efo")

  private val OwnFanOut = "Remove the option. 'consumerMode', 'consumerName' and 'consumerArn' " +
    "select enhanced fan-out."

  /** All options of other connectors, in the order of the documentation. */
  val All: Seq[ForeignOption] = connection ++ position ++ reading ++ fanOut ++ bookkeeping ++ sink

  private def connection = Seq(
    same("endpoint", Sources)("endpointUrl"),
    same("region", Awslabs)("kinesisRegion"),
    same("awsAccessKeyId", Databricks)("awsAccessKey"),
    same("awsSecretAccessKey", "Databricks, awslabs, kinesis-sql")("awsSecretKey"),
    same("awsSessionToken", Awslabs)("sessionToken"),
    same("roleArn", Sources)("stsRoleArn", "awsSTSRoleARN"),
    same("roleSessionName", Sources)("stsSessionName", "awsSTSSessionName"),
    same("stsEndpoint", "awslabs, Glue")("stsEndpointUrl", "awsSTSEndpoint"),
    refused("kinesis-sql")("awsUseInstanceProfile") {
      "Without credentials in the options, the AWS SDK also looks in the instance profile. " +
        "Remove the option."
    },
    refused(Databricks)("serviceCredential") {
      "Service credentials exist on Databricks only. Set 'roleArn' or 'profile', or neither."
    },
    refused(Awslabs)("credentialProviderClass", "credentialProviderParam") {
      "Let the class implement sparkkinesis.client.access.CredentialsProvider, and set " +
        "'credentialsProvider' to its name and 'credentialsProviderSecret' to its parameter."
    },
    refused(Awslabs)("proxyAddress", "proxyPort") {
      "Set 'proxy' to the URL of the proxy, such as http://proxy.example.com:3128."
    }
  )

  private def position = Seq(
    same("startingPosition", Databricks)("initialPosition"),
    same("startingPosition", Kafka)("startingOffsets"),
    refused("Glue, Kafka")("startingTimestamp", "startingOffsetsByTimestamp") {
      "Set 'startingPosition' to the instant, such as 2026-11-21T08:00:00Z."
    },
    refused(Kafka)("endingOffsets", "endingTimestamp", "endingOffsetsByTimestamp") {
      "Set 'endingPosition', such as 2026-11-21T08:00:00Z."
    },
    refused(Kafka)("subscribe", "subscribePattern", "assign")("Set 'streamName'.")
  )

  private def reading = Seq(
    same("maxRecordsPerTrigger", Kafka)("maxOffsetsPerTrigger"),
    refused(Sources)("maxFetchRecordsPerShard", "executor.maxFetchRecordsPerShard") {
      "Set 'maxRecordsPerTrigger' to this value times the number of shards: it limits a batch " +
        "over all shards."
    },
    refused("Databricks, awslabs, kinesis-sql, Glue, Kafka")(
      "maxFetchDuration",
      "maxFetchTimePerShardSec",
      "maxFetchTimeInMs",
      "executor.maxFetchTimeInMs",
      "minOffsetsPerTrigger",
      "maxTriggerDelay"
    )("A batch takes what the executors have read ahead and does not wait. Remove the option."),
    refused(Databricks)("shardsPerTask") {
      "The tasks of a batch do not fetch. For more tasks, set 'minPartitions'."
    },
    refused(Databricks)("coalesceThresholdBlockSize", "coalesceBinSize") {
      "The connector chooses how to divide records among tasks. Remove the option."
    },
    refused(Sources)(
      "avoidEmptyBatches",
      "client.avoidEmptyBatches",
      "internal.avoidEmptyBatches"
    )("Empty batches are rare: they record how far the query has read. Remove the option."),
    refused(Glue)("addRecordTimestamp") {
      "The column approximateArrivalTimestamp always exists. Remove the option."
    },
    refused(Glue)("classification", "delimiter", "inferSchema", "typeOfData") {
      "Records arrive as bytes. Remove the option and parse the column data, for example with " +
        "from_json or from_csv."
    },
    same("maxRecordsPerFetch", Sources)(
      "getRecords.numberOfRecordsPerFetch",
      "executor.maxRecordPerRead",
      "maxRecordPerRead"
    ),
    same("minFetchPeriod", Awslabs, Milliseconds)("getRecords.fetchIntervalMs"),
    same("shardDiscoveryInterval", "Databricks, awslabs, kinesis-sql, Glue")(
      "shardFetchInterval",
      "describeShardInterval",
      "client.describeShardInterval"
    ),
    refused(SqlAndGlue)("idleTimeBetweenReadsInMs", "executor.idleTimeBetweenReadsInMs") {
      "Set 'minFetchPeriod', the time between two calls per shard: write 1000 as 1000ms."
    },
    refused(SqlAndGlue)("addIdleTimeBetweenReads", "executor.addIdleTimeBetweenReads") {
      "Calls to a shard are always at least 'minFetchPeriod' apart. Remove the option."
    },
    refused(Databricks)("maxFetchRate") {
      "To leave more throughput to other consumers of a shard, increase 'minFetchPeriod'."
    },
    refused(Databricks)("maxShardsPerDescribe") {
      "The connector lists 1000 shards per call. Remove the option."
    },
    refused(Awslabs)("checkNewRecordThreads") {
      "The connector finds new records by reading ahead. Remove the option."
    },
    refused(Sources)(
      "clientRetryIntervalsMs",
      "retryIntervalMs",
      "client.retryIntervalMs",
      "clientMaxRetryIntervalMs",
      "maxRetryIntervalMs",
      "client.maxRetryIntervalMs"
    )("The connector chooses the pauses between retries. Remove the option."),
    refused(Sources)("clientNumRetries", "numRetries", "client.numRetries") {
      "Set 'retryTimeout', such as 5m or unlimited. It limits the time, and not the number, of " +
        "retries."
    }
  )

  private def fanOut = Seq(
    same("consumerMode", Awslabs, ConsumerType)("consumerType"),
    refused(Databricks)(
      "consumerNamePrefix",
      "consumerRefreshInterval",
      "registeredConsumerId",
      "registeredConsumerIdType",
      "requireConsumerDeregistration"
    )(OwnFanOut),
    refused(Awslabs)("subscribeToShard.timeoutSec", "subscribeToShard.maxRetries")(OwnFanOut),
    same("consumerArn", Glue)("fanoutConsumerARN")
  )

  private def bookkeeping = Seq(
    refused(Awslabs)(
      "metadataCommitterType",
      "metadataPath",
      "metadataNumRetries",
      "metadataRetryIntervalsMs",
      "metadataMaxRetryIntervalMs",
      "minBatchesToRetain",
      "dynamodb.tableName"
    )("The connector keeps nothing besides Spark's checkpoint. Remove the option."),
    refused(Glue)("emitConsumerLagMetrics") {
      "The query's progress contains the lag (`maxProcessingLagMs`). Remove the option."
    }
  )

  private def sink = Seq(
    same("aggregation", Sinks, Aggregation)(
      "sink.aggregationEnabled",
      "executor.aggregationEnabled"
    ),
    same("linger", Sinks, Milliseconds)(
      "sink.recordMaxBufferedTimeMs",
      "executor.recordMaxBufferedTime"
    ),
    refused(Awslabs)("sink.recordTtl") {
      "The sink drops no record: the task fails after 'deliveryTimeout'. Write 30000 as 30s."
    },
    refused(Sinks)("sink.maxConnections", "executor.maxConnections") {
      "Set 'maxInFlightRequests', the number of requests that a task sends at once. Each uses " +
        "one connection; the default is 16."
    },
    refused(Sinks)("sink.flushWaitTimeMs", "executor.flushWaitTimeMillis") {
      "A task ends when Kinesis has acknowledged every record. Remove the option."
    }
  )

  private def same(ours: String, connectors: String, values: ForeignValues = Unchanged)(
      names: String*
  ): ForeignOption = ForeignOption(names, connectors, Some(ours), values)

  private def refused(connectors: String)(names: String*)(remedy: String): ForeignOption =
    ForeignOption(names, connectors, remedy = remedy)
}
