package sparkkinesis.client.options

private[client] object Connectors {
  val Databricks = "Databricks"
  val Awslabs = "awslabs"
  val KinesisSql = "kinesis-sql"
  val Glue = "Glue"
  val Kafka = "Kafka"

  def all(connectors: String*): String = connectors.mkString(", ")
}

/** The options of other connectors for Spark, as far as they are not spelt like ours. */
private[sparkkinesis] object ForeignOptions {
  import Connectors._
  import ForeignOption._

  private val NoMetadata = "Nothing is kept besides Spark's checkpoint. Leave it out."

  private val connection: Seq[ForeignOption] = Seq(
    Same("endpoint", Seq("endpointUrl"), all(Awslabs, KinesisSql, Glue)),
    Same("region", Seq("kinesisRegion"), Awslabs),
    Same("awsAccessKeyId", Seq("awsAccessKey"), Databricks),
    Same("awsSecretAccessKey", Seq("awsSecretKey"), all(Databricks, Awslabs, KinesisSql)),
    Same("awsSessionToken", Seq("sessionToken"), Awslabs),
    Same("roleArn", Seq("stsRoleArn", "awsSTSRoleARN"), all(Awslabs, KinesisSql, Glue)),
    Same(
      "roleSessionName",
      Seq("stsSessionName", "awsSTSSessionName"),
      all(Awslabs, KinesisSql, Glue)
    ),
    Same("stsEndpoint", Seq("stsEndpointUrl", "awsSTSEndpoint"), all(Awslabs, Glue)),
    Different(
      Seq("awsUseInstanceProfile"),
      KinesisSql,
      "Where no credentials are given the AWS SDK looks for them, in the instance profile too. " +
        "Leave it out."
    ),
    Different(
      Seq("serviceCredential"),
      Databricks,
      "It exists on Databricks only. Give 'roleArn' or 'profile', or leave it out.",
      Seq("roleArn", "profile")
    ),
    Different(
      Seq("credentialProviderClass", "credentialProviderParam"),
      Awslabs,
      "A class made for that connector cannot be called here. Give 'roleArn' or 'profile'.",
      Seq("roleArn", "profile")
    ),
    Different(
      Seq("proxyAddress", "proxyPort", "proxyUsername", "proxyPassword"),
      Awslabs,
      "There are no options for a proxy."
    )
  )

  private val position: Seq[ForeignOption] = Seq(
    Same("startingPosition", Seq("initialPosition"), Databricks),
    Same("startingPosition", Seq("startingOffsets"), Kafka),
    Different(
      Seq("startingTimestamp", "startingOffsetsByTimestamp"),
      all(Glue, Kafka),
      "Give the instant as 'startingPosition', such as 2026-11-21T08:00:00Z.",
      Seq("startingPosition")
    ),
    Different(
      Seq("endingOffsets", "endingTimestamp", "endingOffsetsByTimestamp"),
      Kafka,
      "Say where to end by 'endingPosition', such as 2026-11-21T08:00:00Z.",
      Seq("endingPosition")
    ),
    Different(
      Seq("subscribe", "subscribePattern", "assign"),
      Kafka,
      "Name the stream by 'streamName'.",
      Seq("streamName")
    )
  )

  private val bookkeeping: Seq[ForeignOption] = Seq(
    Different(
      Seq(
        "metadataCommitterType",
        "metadataPath",
        "metadataNumRetries",
        "metadataRetryIntervalsMs",
        "metadataMaxRetryIntervalMs",
        "minBatchesToRetain",
        "dynamodb.tableName"
      ),
      Awslabs,
      NoMetadata
    ),
    Different(
      Seq("emitConsumerLagMetrics"),
      Glue,
      "What is measured is in the query's progress. Leave it out."
    )
  )

  private val sink: Seq[ForeignOption] = Seq(
    Same(
      "aggregation",
      Seq("sink.aggregationEnabled", "executor.aggregationEnabled"),
      all(Awslabs, KinesisSql),
      ValueForm.Aggregation
    ),
    Same(
      "linger",
      Seq("sink.recordMaxBufferedTimeMs", "executor.recordMaxBufferedTime"),
      all(Awslabs, KinesisSql),
      ValueForm.Milliseconds
    ),
    Different(
      Seq("sink.recordTtl"),
      Awslabs,
      "No record is dropped; a task fails after 'deliveryTimeout': write 30000 as 30s.",
      Seq("deliveryTimeout")
    ),
    Different(
      Seq("sink.maxConnections", "executor.maxConnections"),
      all(Awslabs, KinesisSql),
      "'maxInFlightRequests' are a task's requests at once, a connection each; default is 16.",
      Seq("maxInFlightRequests")
    ),
    Different(
      Seq("sink.flushWaitTimeMs", "executor.flushWaitTimeMillis"),
      all(Awslabs, KinesisSql),
      "A task ends when every record is acknowledged. Leave it out."
    )
  )

  /** In the order of the documentation. */
  val All: Seq[ForeignOption] =
    connection ++ position ++ ForeignReading.All ++ bookkeeping ++ sink
}
