package sparkkinesis.client

import sparkkinesis.client.Options.lower

/** Names of options that are not ours: Spark's, other connectors', and misspelt ones. */
private[client] object OptionNames {

  /**
   * What Spark itself puts among a source's or sink's options, or reads from there.
   *
   * `path(s)`: `load(path)`, `start(path)` (DataSourceV2Utils); `checkpointLocation`, `queryName`:
   * DataStreamWriter hands all its options to the table; the rest: AsyncProgressTracking of
   * MicroBatchExecution.
   */
  val Spark: Seq[String] = Seq(
    "path",
    "paths",
    "checkpointLocation",
    "queryName",
    "asyncProgressTrackingEnabled",
    "asyncProgressTrackingCheckpointIntervalMs",
    "_asyncProgressTrackingOverrideSinkSupportCheck"
  )

  /** What other Kinesis connectors for Spark call ours, without a leading `kinesis.`. */
  private val Elsewhere: Map[String, String] = Map(
    "initialPosition" -> "startingPosition",
    "startingOffsets" -> "startingPosition",
    "endingOffsets" -> "endingPosition",
    "awsAccessKey" -> "awsAccessKeyId",
    "awsSecretKey" -> "awsSecretAccessKey",
    "endpointUrl" -> "endpoint",
    "stsRoleArn" -> "roleArn",
    "stsSessionName" -> "roleSessionName",
    "stsEndpointUrl" -> "stsEndpoint",
    "consumerType" -> "consumerMode",
    "maxOffsetsPerTrigger" -> "maxRecordsPerTrigger",
    "maxFetchRecordsPerShard" -> "maxRecordsPerTrigger",
    "maxFetchRate" -> "minFetchPeriod",
    "shardFetchInterval" -> "shardDiscoveryInterval",
    "shardsPerTask" -> "minPartitions"
  ).map { case (theirs, ours) => lower(theirs) -> ours }

  /** What to say about a name that is neither known nor Spark's. */
  def unknown(name: String, known: Seq[String]): String = {
    val bare = lower(name).stripPrefix("kinesis.")
    val renamed = Elsewhere.get(bare).filter(known.contains)
    val prefixed = known.find(lower(_) == bare)
    val meant = renamed.orElse(prefixed)
    meant match {
      case Some(ours) => s"There is no option '$name' here. Its name is '$ours'."
      case None =>
        val hint = nearest(bare, known).fold("")(near => s" Did you mean '$near'?")
        s"There is no option '$name' here.$hint Known are: ${known.sorted.mkString(", ")}."
    }
  }

  /** Close enough to be a slip: a third of the letters may differ. */
  private def nearest(name: String, known: Seq[String]): Option[String] = {
    val byDistance = known.map(candidate => candidate -> distance(name, lower(candidate)))
    byDistance.minByOption(_._2).collect {
      case (candidate, edits) if edits <= math.max(2, name.length / 3) => candidate
    }
  }

  /** Letters to insert, remove or replace (Levenshtein). */
  private[client] def distance(a: String, b: String): Int = {
    val last = a.foldLeft((0 to b.length).toVector) { (above, letter) =>
      b.indices
        .scanLeft(above.head + 1) { (left, j) =>
          val replaced = above(j) + (if (b(j) == letter) 0 else 1)
          math.min(replaced, math.min(left, above(j + 1)) + 1)
        }
        .toVector
    }
    last.last
  }
}
