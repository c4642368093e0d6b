package sparkkinesis.simulator.service

import scala.annotation.tailrec

import sparkkinesis.model.{RecordDistribution, Shard, StreamName}
import sparkkinesis.simulator.listing._
import sparkkinesis.simulator.operation._
import sparkkinesis.simulator.state.{Encryption, ShardMetric, StreamMode}

/** The part of [[KinesisAdmin]] that changes a stream's settings, in memory. */
trait SimulatedStreamAdmin extends KinesisAdmin with OperationRunner {

  /** Runs the operation, and returns when the stream is active again. */
  protected def change(operation: Operation[Any]): Unit

  private def arn(stream: StreamName) = LocalAccount.arn(stream)

  override def createOnDemandStream(stream: StreamName): Unit =
    change(CreateStream(arn(stream), Modes.OnDemandShards, StreamMode.OnDemand))

  override def updateMode(stream: StreamName, mode: StreamMode): Unit =
    change(UpdateStreamMode(arn(stream), mode))

  override def increaseRetention(stream: StreamName, hours: Int): Unit =
    change(IncreaseStreamRetentionPeriod(arn(stream), hours))

  override def decreaseRetention(stream: StreamName, hours: Int): Unit =
    change(DecreaseStreamRetentionPeriod(arn(stream), hours))

  override def updateMaxRecordSize(stream: StreamName, kibibytes: Int): Unit =
    change(UpdateMaxRecordSize(arn(stream), kibibytes))

  override def startEncryption(stream: StreamName, key: String): Unit =
    change(StartStreamEncryption(arn(stream), Encryption.Kms, key))

  override def stopEncryption(stream: StreamName, key: String): Unit =
    change(StopStreamEncryption(arn(stream), Encryption.Kms))

  override def updateDistribution(stream: StreamName, distribution: RecordDistribution): Unit =
    change(UpdateStreamRecordDistributionStrategy(arn(stream), distribution))

  override def addTags(stream: StreamName, tags: Map[String, String]): Unit =
    answer(AddTagsToStream(arn(stream), tags))

  override def removeTags(stream: StreamName, keys: Seq[String]): Unit =
    answer(RemoveTagsFromStream(arn(stream), keys))

  override def tags(stream: StreamName, limit: Int): Map[String, String] = {
    @tailrec def more(found: Vector[(String, String)]): Map[String, String] = {
      val page = answer(ListTagsForStream(arn(stream), found.lastOption.map(_._1), limit))
      val all = found ++ page.tags
      if (page.hasMore) more(all) else all.toMap
    }
    more(Vector.empty)
  }

  override def tagResource(stream: StreamName, tags: Map[String, String]): Unit =
    answer(TagResource(arn(stream), tags))

  override def untagResource(stream: StreamName, keys: Seq[String]): Unit =
    answer(UntagResource(arn(stream), keys))

  override def resourceTags(stream: StreamName): Map[String, String] =
    answer(ListTagsForResource(arn(stream))).tags.toMap

  override def enableMonitoring(
      stream: StreamName,
      metrics: Seq[ShardMetric]
  ): Set[ShardMetric] = answer(EnableEnhancedMonitoring(arn(stream), metrics)).desired.toSet

  override def disableMonitoring(
      stream: StreamName,
      metrics: Seq[ShardMetric]
  ): Set[ShardMetric] = answer(DisableEnhancedMonitoring(arn(stream), metrics)).desired.toSet

  override def describeShards(stream: StreamName, limit: Int): Seq[Shard] = {
    @tailrec def more(found: Vector[Shard]): Seq[Shard] = {
      val page = answer(DescribeStream(arn(stream), found.lastOption.map(_.id), limit))
      val all = found ++ page.shards
      if (page.hasMore) more(all) else all
    }
    more(Vector.empty)
  }

  override def describeLimits(): AccountLimits =
    answer(DescribeLimits(LocalAccount.Region, LocalAccount.Account))

  override def listStreamsByToken(limit: Int): Seq[StreamName] = {
    val (region, account) = (LocalAccount.Region, LocalAccount.Account)
    @tailrec def more(found: Vector[StreamName], page: StreamListing): Seq[StreamName] = {
      val all = found ++ page.streams.map(_.name)
      page.nextToken match {
        case Some(token) => more(all, answer(ListMoreStreams(region, account, token, limit)))
        case None => all
      }
    }
    more(Vector.empty, answer(ListStreams(region, account, None, limit)))
  }
}
