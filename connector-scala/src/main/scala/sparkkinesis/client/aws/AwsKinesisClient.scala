package sparkkinesis.client.aws

import scala.jdk.CollectionConverters._

import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration
import software.amazon.awssdk.core.interceptor.ExecutionAttribute
import software.amazon.awssdk.services.kinesis.{KinesisClient => SdkClient, model => aws}

import sparkkinesis.client.ListShardsRequest.{First, Next}
import sparkkinesis.client._
import sparkkinesis.client.aws.AwsConversions._
import sparkkinesis.client.aws.wire._
import sparkkinesis.model.{Position, PutEntry, ShardId, StreamRef}

/**
 * The port over the AWS SDK.
 *
 * @param target for messages: where the calls go
 * @param closeAlso what else was opened for this client
 */
private[aws] final class AwsKinesisClient(
    sdk: SdkClient,
    target: String,
    closeAlso: () => Unit
) extends KinesisClient {
  private val isCborOn = PackedRequests.isCborOn

  override def describeStream(stream: StreamRef): StreamSummary =
    AwsErrors.translating(s"DescribeStreamSummary of stream $stream", target) {
      val request = aws.DescribeStreamSummaryRequest.builder()
      val named = forStream(stream)(request.streamName(_), request.streamARN(_))
      val slot = new DistributionAnswers.Slot
      named.overrideConfiguration(carrying(DistributionAnswers.Wanted, slot))
      val answer = sdk.describeStreamSummary(named.build())
      summary(answer.streamDescriptionSummary, slot.strategy)
    }

  override def listShards(request: ListShardsRequest): ShardListing = request match {
    case First(stream, filter) =>
      val first = aws.ListShardsRequest.builder().shardFilter(shardFilter(filter))
      list(stream, forStream(stream)(first.streamName(_), first.streamARN(_)))
    // Neither stream nor filter may stand beside a token.
    case Next(stream, token) => list(stream, aws.ListShardsRequest.builder().nextToken(token))
  }

  private def list(stream: StreamRef, request: aws.ListShardsRequest.Builder): ShardListing =
    AwsErrors.translating(s"ListShards of stream $stream", target) {
      listing(sdk.listShards(request.build()))
    }

  override def shardIterator(stream: StreamRef, shard: ShardId, position: Position): ShardIterator =
    AwsErrors.translating(s"GetShardIterator of stream $stream, shard $shard", target) {
      val request = aws.GetShardIteratorRequest.builder().shardId(shard.name)
      startAt(request, position)
      val answer =
        sdk.getShardIterator(forStream(stream)(request.streamName(_), request.streamARN(_)).build())
      ShardIterator(answer.shardIterator)
    }

  override def getRecords(stream: StreamRef, iterator: ShardIterator, limit: Int): Page =
    AwsErrors.translating(s"GetRecords of stream $stream", target) {
      val request = aws.GetRecordsRequest.builder().shardIterator(iterator.token).limit(limit)
      stream match {
        case StreamRef.ByArn(arn) => request.streamARN(arn.toString)
        case StreamRef.ByName(_) => () // the iterator tells the stream
      }
      val slot = new PackedAnswers.Slot(GetRecordsCbor.decode)
      request.overrideConfiguration(carrying(PackedAnswers.Wanted, slot))
      val answer = sdk.getRecords(request.build())
      slot.answer.getOrElse(page(answer))
    }

  override def putRecords(stream: StreamRef, entries: Seq[PutEntry]): Seq[PutResult] =
    AwsErrors.translating(s"PutRecords of stream $stream", target) {
      val slot = new PackedAnswers.Slot(PutRecordsAnswerCbor.decode)
      val configuration = AwsRequestOverrideConfiguration
        .builder()
        .putExecutionAttribute(PackedAnswers.Wanted, slot)
      val request = aws.PutRecordsRequest.builder()
      val body = if (isCborOn) PutRecordsRequestCbor.encode(stream, entries) else None
      body match {
        case Some(packed) => configuration.putExecutionAttribute(PackedRequests.Body, packed)
        case None => request.records(entries.map(requestEntry).asJava)
      }
      request.overrideConfiguration(configuration.build())
      val answer =
        sdk.putRecords(forStream(stream)(request.streamName(_), request.streamARN(_)).build())
      slot.answer.getOrElse(answer.records.asScala.iterator.map(putResult).toVector)
    }

  override def close(): Unit =
    try sdk.close()
    finally closeAlso()

  /** Tells an interceptor where this one call wants its answer. */
  private def carrying[A](attribute: ExecutionAttribute[A], value: A) =
    AwsRequestOverrideConfiguration.builder().putExecutionAttribute(attribute, value).build()

  private def forStream[B](stream: StreamRef)(byName: String => B, byArn: String => B): B =
    stream match {
      case StreamRef.ByName(name) => byName(name.name)
      case StreamRef.ByArn(arn) => byArn(arn.toString)
    }
}
