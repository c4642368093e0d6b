package sparkkinesis.client.options

import sparkkinesis.client.options.OptionNames.{normalized, withoutPrefix}

/**
 * An option of other Spark connectors.
 *
 * @param connectors the connectors that have it, separated by commas
 * @param names its names, without a leading `kinesis.`
 * @param ours our option with the same meaning
 * @param remedy what to do; names our options in single quotes
 */
private[sparkkinesis] final case class ForeignOption(
    connectors: String,
    names: Seq[String],
    ours: Option[String],
    remedy: String
) {
  def hint: String =
    (ours.map(it => s"It is an option of $connectors; here it is '$it'.") ++ Seq(remedy))
      .filter(_.nonEmpty)
      .mkString(" ")
}

/** The options of other Spark connectors, whose names are unknown here: hints for the error. */
private[sparkkinesis] object ForeignOptions {

  /** In the order of the documentation. */
  val All: Seq[ForeignOption] = Seq(
    same("endpoint", "awslabs, kinesis-sql, Glue", "endpointUrl"),
    same("region", "awslabs", "kinesisRegion"),
    same("awsAccessKeyId", "Databricks", "awsAccessKey"),
    same("awsSecretAccessKey", "Databricks, awslabs, kinesis-sql", "awsSecretKey"),
    same("awsSessionToken", "awslabs", "sessionToken"),
    same("roleArn", "awslabs, kinesis-sql, Glue", "stsRoleArn awsSTSRoleARN"),
    same("roleSessionName", "awslabs, kinesis-sql, Glue", "stsSessionName awsSTSSessionName"),
    same("stsEndpoint", "awslabs, Glue", "stsEndpointUrl awsSTSEndpoint"),
    other("kinesis-sql", "awsUseInstanceProfile")(
      "Without credentials in the options, the AWS SDK also looks in the instance profile. " +
        "Remove the option."
    ),
    other("Databricks", "serviceCredential")(
      "Service credentials exist on Databricks only. Set 'roleArn' or 'profile', or neither."
    ),
    other("awslabs", "credentialProviderClass credentialProviderParam")(
      "Let the class implement sparkkinesis.client.access.CredentialsProvider, and set " +
        "'credentialsProvider' to its name and 'credentialsProviderSecret' to its parameter."
    ),
    other("awslabs", "proxyAddress proxyPort")(
      "Set 'proxy' to the URL of the proxy, such as http://proxy.example.com:3128."
    ),
    same("startingPosition", "Databricks, Kafka", "initialPosition startingOffsets")
      .copy(remedy = "Write an instant as 2026-11-21T08:00:00Z."),
    other("Glue, Kafka", "startingTimestamp startingOffsetsByTimestamp")(
      "Set 'startingPosition' to the instant, such as 2026-11-21T08:00:00Z."
    ),
    other("Kafka", "endingOffsets endingTimestamp endingOffsetsByTimestamp")(
      "Set 'endingPosition', such as 2026-11-21T08:00:00Z."
    ),
    other("Kafka", "subscribe subscribePattern assign")("Set 'streamName'."),
    same("maxRecordsPerTrigger", "Kafka", "maxOffsetsPerTrigger"),
    other("awslabs, kinesis-sql, Glue", "maxFetchRecordsPerShard executor.maxFetchRecordsPerShard")(
      "Set 'maxRecordsPerTrigger' to this value times the number of shards: it limits " +
        "a micro-batch over all shards."
    ),
    other(
      "Databricks, awslabs, kinesis-sql, Glue, Kafka",
      "maxFetchDuration maxFetchTimePerShardSec maxFetchTimeInMs executor.maxFetchTimeInMs " +
        "minOffsetsPerTrigger maxTriggerDelay"
    )(
      "A micro-batch takes what the executors have read ahead and does not wait. Remove the option."
    ),
    other("Databricks", "shardsPerTask coalesceThresholdBlockSize coalesceBinSize")(
      "Remove the option. For more tasks, set 'minPartitions'."
    ),
    other("Glue", "classification delimiter inferSchema typeOfData")(
      "Records arrive as bytes. Remove the option and parse the column data, for example with " +
        "from_json or from_csv."
    ),
    same(
      "maxRecordsPerFetch",
      "awslabs, kinesis-sql, Glue",
      "getRecords.numberOfRecordsPerFetch executor.maxRecordPerRead maxRecordPerRead"
    ),
    same(
      "minFetchPeriod",
      "awslabs, kinesis-sql, Glue",
      "getRecords.fetchIntervalMs idleTimeBetweenReadsInMs executor.idleTimeBetweenReadsInMs"
    ).copy(remedy = "Write 1000 as 1000ms."),
    other("Databricks", "maxFetchRate")(
      "To leave more throughput to other consumers of a shard, increase 'minFetchPeriod'."
    ),
    same(
      "shardDiscoveryInterval",
      "Databricks, awslabs, kinesis-sql, Glue",
      "shardFetchInterval describeShardInterval client.describeShardInterval"
    ),
    other("awslabs, kinesis-sql, Glue", "clientNumRetries numRetries client.numRetries")(
      "Set 'retryTimeout', such as 5m or unlimited. It limits the time, and not the number, of " +
        "retries."
    ),
    same("consumerMode", "awslabs", "consumerType")
      .copy(remedy = "Write GetRecords as polling, and SubscribeToShard as efo."),
    other(
      "Databricks, awslabs",
      "consumerNamePrefix consumerRefreshInterval registeredConsumerId registeredConsumerIdType " +
        "requireConsumerDeregistration subscribeToShard.timeoutSec subscribeToShard.maxRetries"
    )("Remove the option. 'consumerName' and 'consumerArn' name the consumers."),
    same("consumerArn", "Glue", "fanoutConsumerARN"),
    other(
      "awslabs",
      "metadataCommitterType metadataPath metadataNumRetries metadataRetryIntervalsMs " +
        "metadataMaxRetryIntervalMs minBatchesToRetain dynamodb.tableName"
    )("The connector keeps nothing besides Spark's checkpoint. Remove the option."),
    other("Glue", "addRecordTimestamp emitConsumerLagMetrics")(
      "The column approximateArrivalTimestamp and the metric maxProcessingLagMs always exist. " +
        "Remove the option."
    ),
    other(
      "Databricks, awslabs, kinesis-sql, Glue",
      "avoidEmptyBatches client.avoidEmptyBatches internal.avoidEmptyBatches " +
        "addIdleTimeBetweenReads executor.addIdleTimeBetweenReads maxShardsPerDescribe " +
        "checkNewRecordThreads clientRetryIntervalsMs retryIntervalMs client.retryIntervalMs " +
        "clientMaxRetryIntervalMs maxRetryIntervalMs client.maxRetryIntervalMs " +
        "sink.flushWaitTimeMs executor.flushWaitTimeMillis"
    )("The connector needs no such setting. Remove the option."),
    same(
      "aggregation",
      "awslabs, kinesis-sql",
      "sink.aggregationEnabled executor.aggregationEnabled"
    ).copy(remedy = "Write true as kpl, and false as none."),
    same(
      "linger",
      "awslabs, kinesis-sql",
      "sink.recordMaxBufferedTimeMs executor.recordMaxBufferedTime"
    ).copy(remedy = "Write 1000 as 1000ms."),
    other("awslabs", "sink.recordTtl")(
      "The sink drops no record: the task fails after 'deliveryTimeout'. Write 30000 as 30s."
    ),
    other("awslabs, kinesis-sql", "sink.maxConnections executor.maxConnections")(
      "Set 'maxInFlightRequests', the number of requests that a task sends at once. Each uses " +
        "one connection; the default is 16."
    )
  )

  def find(name: String): Option[ForeignOption] =
    All.find(_.names.exists(normalized(_) == withoutPrefix(name)))

  /** The hint for a name, unless it names an option that is unknown as well. */
  def hint(name: String, known: Seq[String]): Option[String] =
    find(name)
      .map(_.hint)
      .filter(Quoted.findAllMatchIn(_).forall(it => known.contains(it.group(1))))

  private lazy val Quoted = "'(\\w+)'".r

  private def same(ours: String, connectors: String, names: String) =
    ForeignOption(connectors, names.split(' ').toSeq, Some(ours), remedy = "")

  private def other(connectors: String, names: String)(remedy: String) =
    ForeignOption(connectors, names.split(' ').toSeq, ours = None, remedy)
}
