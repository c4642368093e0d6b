package sparkkinesis.simulator.sdk

import scala.annotation.tailrec
import scala.jdk.CollectionConverters._

import software.amazon.awssdk.services.kinesis.{KinesisClient => SdkClient}
import software.amazon.awssdk.services.kinesis.{model => aws}

import sparkkinesis.model._
import sparkkinesis.simulator.listing.AccountLimits
import sparkkinesis.simulator.service.KinesisAdmin
import sparkkinesis.simulator.state.ShardMetric

/** The part of the admin calls that lists, describes and measures, by AWS's own SDK. */
trait SdkDescribing extends KinesisAdmin {
  def sdk: SdkClient

  protected def awaitActive(stream: StreamName): Unit

  protected def translated[A](call: => A): A

  override def describeShards(stream: StreamName, limit: Int): Seq[Shard] = translated {
    @tailrec def more(found: Vector[aws.Shard]): Seq[aws.Shard] = {
      val page = sdk.describeStream { request =>
        request.streamName(stream.name).limit(limit)
        found.lastOption.foreach(last => request.exclusiveStartShardId(last.shardId))
      }.streamDescription
      require(page.shards.size <= limit, s"${page.shards.size} shards on a page of $limit.")
      val all = found ++ page.shards.asScala
      if (page.hasMoreShards) more(all) else all
    }
    more(Vector.empty).map(converted)
  }

  override def describeLimits(): AccountLimits = translated {
    val it = sdk.describeLimits(_ => ())
    AccountLimits(
      it.shardLimit,
      it.openShardCount,
      it.onDemandStreamCount,
      it.onDemandStreamCountLimit
    )
  }

  /** Lists by the last name, because not every service returns tokens. */
  override def listStreams(): Seq[StreamName] = translated {
    @tailrec def more(found: Vector[String]): Seq[StreamName] = {
      val page = sdk.listStreams { request =>
        found.lastOption.foreach(last => request.exclusiveStartStreamName(last))
        ()
      }
      val all = found ++ page.streamNames.asScala
      if (page.hasMoreStreams && !page.streamNames.isEmpty) more(all) else all.map(StreamName(_))
    }
    more(Vector.empty)
  }

  override def listStreamsByToken(limit: Int): Seq[StreamName] = translated {
    @tailrec def more(found: Vector[String], token: Option[String]): Seq[StreamName] = {
      val page = sdk.listStreams { request =>
        request.limit(limit)
        token.foreach(request.nextToken(_))
      }
      val (all, next) = (found ++ page.streamNames.asScala, Option(page.nextToken))
      require(next.nonEmpty || !page.hasMoreStreams, "More streams, and no NextToken.")
      if (next.isEmpty) all.map(StreamName(_)) else more(all, next)
    }
    more(Vector.empty, None)
  }

  override def enableMonitoring(stream: StreamName, metrics: Seq[ShardMetric]): Set[ShardMetric] =
    translated {
      val request = aws.EnableEnhancedMonitoringRequest
        .builder()
        .streamName(stream.name)
        .shardLevelMetricsWithStrings(metrics.map(_.name).asJava)
      val desired = sdk.enableEnhancedMonitoring(request.build()).desiredShardLevelMetricsAsStrings
      awaitActive(stream)
      named(desired.asScala)
    }

  override def disableMonitoring(stream: StreamName, metrics: Seq[ShardMetric]): Set[ShardMetric] =
    translated {
      val request = aws.DisableEnhancedMonitoringRequest
        .builder()
        .streamName(stream.name)
        .shardLevelMetricsWithStrings(metrics.map(_.name).asJava)
      val desired = sdk.disableEnhancedMonitoring(request.build()).desiredShardLevelMetricsAsStrings
      awaitActive(stream)
      named(desired.asScala)
    }

  protected def arn(stream: StreamName): String =
    sdk.describeStreamSummary(_.streamName(stream.name)).streamDescriptionSummary.streamARN

  private def named(metrics: Iterable[String]): Set[ShardMetric] =
    ShardMetric.All.filter(metric => metrics.exists(_ == metric.name)).toSet

  private def converted(it: aws.Shard): Shard = Shard(
    ShardId(it.shardId),
    Seq(it.parentShardId, it.adjacentParentShardId).flatMap(Option(_)).map(ShardId(_)),
    HashKeyRange(
      HashKey.parse(it.hashKeyRange.startingHashKey).get,
      HashKey.parse(it.hashKeyRange.endingHashKey).get
    ),
    SequenceNumber(it.sequenceNumberRange.startingSequenceNumber),
    Option(it.sequenceNumberRange.endingSequenceNumber).map(SequenceNumber(_))
  )
}
