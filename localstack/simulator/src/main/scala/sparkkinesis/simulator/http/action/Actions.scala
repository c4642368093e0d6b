package sparkkinesis.simulator.http.action

import sparkkinesis.client.ShardIterator
import sparkkinesis.model.{Position, PutEntry, ServiceLimits}
import sparkkinesis.simulator.http.wire.{BadRequest, Fields}
import sparkkinesis.simulator.listing._
import sparkkinesis.simulator.operation._
import sparkkinesis.simulator.paging.ListFilter

private[http] object Actions {

  /** All operations, by the name in the `X-Amz-Target` header. */
  val byName: Map[String, Action[_]] = Map(
    "CreateStream" -> Action(ControlActions.createStream, _.nothing),
    "DeleteStream" -> Action(
      f => DeleteStream(f.stream, f.optionalBoolean("EnforceConsumerDeletion").contains(true)),
      _.nothing
    ),
    "DescribeStream" -> Action(describeStream, _.description),
    "DescribeStreamSummary" -> Action(f => DescribeStreamSummary(f.stream), _.summary),
    "ListStreams" -> Action(listStreams, _.streams),
    "ListShards" -> Action(listShards, _.shards),
    "GetShardIterator" -> Action(
      f => GetShardIterator(f.stream, f.shard("ShardId"), position(f)),
      _.shardIterator
    ),
    "GetRecords" -> Action(getRecords, _.page),
    "PutRecord" -> Action(f => PutRecord(f.stream, entry(f)), _.written),
    "PutRecords" -> Action(f => PutRecords(f.stream, f.list("Records").map(entry)), _.results),
    "SplitShard" -> Action(
      f => SplitShard(f.stream, f.shard("ShardToSplit"), f.hashKey("NewStartingHashKey")),
      _.nothing
    ),
    "MergeShards" -> Action(
      f => MergeShards(f.stream, f.shard("ShardToMerge"), f.shard("AdjacentShardToMerge")),
      _.nothing
    ),
    "UpdateShardCount" -> Action(updateShardCount, _.shardCount)
  ) ++ ControlActions.byName ++ ConsumerActions.byName

  private def describeStream(f: Fields): Operation[StreamDescription] = DescribeStream(
    f.stream,
    f.optionalShard("ExclusiveStartShardId"),
    f.optionalInt("Limit").getOrElse(DescribeStream.DefaultLimit)
  )

  /** The SDK's paginator repeats the first name beside the token, which is later than it. */
  private def listStreams(f: Fields): Operation[StreamListing] = {
    val limit = f.optionalInt("Limit").getOrElse(ListStreams.DefaultLimit)
    f.optionalText("NextToken") match {
      case Some(token) => ListMoreStreams(f.caller.region, f.caller.account, token, limit)
      case None =>
        val after = f.optionalText("ExclusiveStartStreamName").map(f.streamName)
        ListStreams(f.caller.region, f.caller.account, after, limit)
    }
  }

  private def listShards(f: Fields): Operation[ListShardsPage] = {
    val limit = f.optionalInt("MaxResults").getOrElse(ListShards.DefaultLimit)
    f.optionalText("NextToken") match {
      case None =>
        val filter =
          f.optionalFields("ShardFilter").fold[ListFilter](ListFilter.FromTrimHorizon)(of)
        ListShards(f.stream, filter, f.optionalShard("ExclusiveStartShardId"), limit)
      case Some(token) =>
        alone.filter(f.has).foreach { name =>
          throw BadRequest.invalid(s"NextToken and $name cannot be given together.")
        }
        ListMoreShards(token, limit)
    }
  }

  /** Members that a page token already contains. */
  private val alone = Seq(
    "StreamName",
    "StreamARN",
    "ShardFilter",
    "ExclusiveStartShardId",
    "StreamCreationTimestamp"
  )

  private def of(filter: Fields): ListFilter = filter.text("Type") match {
    case "AFTER_SHARD_ID" => ListFilter.AfterShardId(filter.shard("ShardId"))
    case "AT_TRIM_HORIZON" => ListFilter.AtTrimHorizon
    case "FROM_TRIM_HORIZON" => ListFilter.FromTrimHorizon
    case "AT_LATEST" => ListFilter.AtLatest
    case "AT_TIMESTAMP" => ListFilter.AtTimestamp(filter.instant("Timestamp"))
    case "FROM_TIMESTAMP" => ListFilter.FromTimestamp(filter.instant("Timestamp"))
    case other => throw filter.unfit("shardFilter.type", other, "the enum of shard filter types")
  }

  private def position(f: Fields): Position = f.text("ShardIteratorType") match {
    case "TRIM_HORIZON" => Position.TrimHorizon
    case "LATEST" => Position.Latest
    case "AT_TIMESTAMP" => Position.AtTimestamp(f.instant("Timestamp"))
    case "AT_SEQUENCE_NUMBER" =>
      Position.AtSequenceNumber(f.sequenceNumber("StartingSequenceNumber"))
    case "AFTER_SEQUENCE_NUMBER" =>
      Position.AfterSequenceNumber(f.sequenceNumber("StartingSequenceNumber"))
    case other => throw f.unfit("shardIteratorType", other, "the enum of shard iterator types")
  }

  private def getRecords(f: Fields): Operation[sparkkinesis.client.Page] = GetRecords(
    f.optionalStream,
    ShardIterator(f.text("ShardIterator")),
    f.optionalInt("Limit").getOrElse(ServiceLimits.GetRecordsCount)
  )

  /** Refuses an empty key, because later code takes an empty key for a missing one. */
  private def entry(f: Fields): PutEntry = {
    val key = f.optionalText("PartitionKey")
    if (key.contains("")) throw f.unfit("partitionKey", "", "length 1 to 256")
    PutEntry(key.getOrElse(""), f.data("Data"), f.optionalHashKey("ExplicitHashKey"))
  }

  private def updateShardCount(f: Fields): Operation[ShardCountUpdate] = {
    val scaling = f.text("ScalingType")
    if (scaling != "UNIFORM_SCALING") throw f.unfit("scalingType", scaling, "UNIFORM_SCALING")
    UpdateShardCount(f.stream, f.int("TargetShardCount"))
  }
}
