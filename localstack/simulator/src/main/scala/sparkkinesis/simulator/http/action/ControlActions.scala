package sparkkinesis.simulator.http.action

import sparkkinesis.model.{RecordDistribution, StreamArn}
import sparkkinesis.simulator.http.response.ControlResponses
import sparkkinesis.simulator.http.wire.Fields
import sparkkinesis.simulator.listing.DescribeLimits
import sparkkinesis.simulator.operation._
import sparkkinesis.simulator.state.{Encryption, ShardMetric, StreamMode}

/** Operations on a stream's settings and on the account: their requests and responses. */
private[http] object ControlActions {
  val byName: Map[String, Action[_]] = Map(
    "DescribeLimits" -> Action(
      f => DescribeLimits(f.caller.region, f.caller.account),
      new ControlResponses(_).limits
    ),
    "IncreaseStreamRetentionPeriod" -> changing(f =>
      IncreaseStreamRetentionPeriod(f.stream, f.int("RetentionPeriodHours"))
    ),
    "DecreaseStreamRetentionPeriod" -> changing(f =>
      DecreaseStreamRetentionPeriod(f.stream, f.int("RetentionPeriodHours"))
    ),
    "UpdateStreamMode" -> changing(f => UpdateStreamMode(f.stream, mode(f))),
    "UpdateStreamRecordDistributionStrategy" -> changing(f =>
      UpdateStreamRecordDistributionStrategy(f.stream, distribution(f))
    ),
    "UpdateMaxRecordSize" -> changing(f =>
      UpdateMaxRecordSize(f.stream, f.int("MaxRecordSizeInKiB"))
    ),
    "StartStreamEncryption" -> changing(f =>
      StartStreamEncryption(f.stream, encryptionType(f), key(f))
    ),
    "StopStreamEncryption" -> changing { f =>
      key(f)
      StopStreamEncryption(f.stream, encryptionType(f))
    },
    "EnableEnhancedMonitoring" -> Action(
      f => EnableEnhancedMonitoring(f.stream, metrics(f)),
      new ControlResponses(_).monitoring
    ),
    "DisableEnhancedMonitoring" -> Action(
      f => DisableEnhancedMonitoring(f.stream, metrics(f)),
      new ControlResponses(_).monitoring
    )
  ) ++ tagging

  private lazy val tagging: Map[String, Action[_]] = Map(
    "AddTagsToStream" -> changing(f => AddTagsToStream(f.stream, f.texts("Tags"))),
    "RemoveTagsFromStream" -> changing(f => RemoveTagsFromStream(f.stream, f.textList("TagKeys"))),
    "ListTagsForStream" -> Action(
      f =>
        ListTagsForStream(
          f.stream,
          f.optionalText("ExclusiveStartTagKey"),
          f.optionalInt("Limit").getOrElse(Tags.Limit)
        ),
      new ControlResponses(_).streamTags
    ),
    "TagResource" -> changing(f => TagResource(resource(f), f.texts("Tags"))),
    "UntagResource" -> changing(f => UntagResource(resource(f), f.textList("TagKeys"))),
    "ListTagsForResource" -> Action(
      f => ListTagsForResource(resource(f)),
      new ControlResponses(_).resourceTags
    )
  )

  /** An on-demand stream has four shards, unless the request names another number. */
  def createStream(f: Fields): Operation[Unit] = {
    val mode = if (f.has("StreamModeDetails")) this.mode(f) else StreamMode.Provisioned
    val shards = f.optionalInt("ShardCount").filter(_ => mode == StreamMode.OnDemand)
    CreateStream(
      f.caller.arn(f.streamName(f.text("StreamName"))),
      if (mode == StreamMode.OnDemand) shards.getOrElse(Modes.OnDemandShards)
      else f.int("ShardCount"),
      mode,
      if (f.has("RecordDistributionStrategy")) distribution(f)
      else RecordDistribution.UserPartitionKey,
      f.optionalInt("MaxRecordSizeInKiB").getOrElse(RecordSize.Smallest),
      if (f.has("Tags")) f.texts("Tags") else Map.empty
    )
  }

  private def changing(read: Fields => Operation[Unit]): Action[Unit] = Action(read, _.nothing)

  private def resource(f: Fields): StreamArn = f.arn(f.text("ResourceARN"))

  private def mode(f: Fields): StreamMode = {
    val details = f.optionalFields("StreamModeDetails").getOrElse(f)
    val name = details.text("StreamMode")
    StreamMode.All
      .find(_.name == name)
      .getOrElse(throw f.unfit("streamModeDetails.streamMode", name, "[PROVISIONED, ON_DEMAND]"))
  }

  private def distribution(f: Fields): RecordDistribution = {
    val name = f.text("RecordDistributionStrategy")
    RecordDistribution.All
      .find(_.name == name)
      .getOrElse(throw f.unfit("recordDistributionStrategy", name, "[AUTO, USER_PARTITION_KEY]"))
  }

  private def encryptionType(f: Fields): String = {
    val name = f.text("EncryptionType")
    if (Seq("NONE", Encryption.Kms).contains(name)) name
    else throw f.unfit("encryptionType", name, "[NONE, KMS]")
  }

  private def key(f: Fields): String = {
    val id = f.text("KeyId")
    if (id.nonEmpty && id.length <= 2048) id
    else throw f.unfit("keyId", id, "length 1 to 2048")
  }

  private def metrics(f: Fields): Seq[ShardMetric] = {
    val names = f.textList("ShardLevelMetrics")
    if (names.isEmpty || names.size > ShardMetric.All.size)
      throw f.unfit("shardLevelMetrics", names.mkString("[", ", ", "]"), "length 1 to 7")
    names.flatMap {
      case "ALL" => ShardMetric.All
      case name =>
        Seq(
          ShardMetric.All
            .find(_.name == name)
            .getOrElse(throw f.unfit("shardLevelMetrics", name, "the enum of shard-level metrics"))
        )
    }
  }
}
