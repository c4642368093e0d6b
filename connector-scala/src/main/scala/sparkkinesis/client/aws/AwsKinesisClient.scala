package sparkkinesis.client.aws

import scala.concurrent.duration.FiniteDuration
import scala.jdk.CollectionConverters._
import scala.jdk.DurationConverters._

import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration
import software.amazon.awssdk.core.interceptor.ExecutionAttribute
import software.amazon.awssdk.services.kinesis.{KinesisClient => SdkClient, model => aws}

import sparkkinesis.client.ListShardsRequest.{First, Next}
import sparkkinesis.client._
import sparkkinesis.client.aws.AwsConversions._
import sparkkinesis.client.aws.http.LastCheck
import sparkkinesis.client.aws.wire._
import sparkkinesis.model.{Position, PutEntry, ShardId, StreamRef}

/**
 * [[KinesisClient]] over the AWS SDK.
 *
 * @param location region and endpoint, for messages
 * @param closeAlso closes other resources of this client
 */
private[aws] final class AwsKinesisClient(
    sdk: SdkClient,
    location: String,
    closeAlso: () => Unit,
    override val isAws: Boolean = false,
    override val fanOut: FanOutClient = FanOutClient.None,
    warning: FallbackWarning = new FallbackWarning
) extends KinesisClient {
  @volatile private var encodes = RequestBodyOverride.isCborOn // or else the SDK does

  override def describeStream(stream: StreamRef): StreamSummary =
    AwsErrors.translating(s"DescribeStreamSummary of stream $stream", location) {
      val request = aws.DescribeStreamSummaryRequest.builder()
      val named = forStream(stream)(request.streamName(_), request.streamARN(_))
      val distribution = new RecordDistributionReader
      named.overrideConfiguration(carrying(ResponseDecoder.Attribute, distribution.call))
      val response = sdk.describeStreamSummary(named.build())
      summary(response.streamDescriptionSummary, distribution.strategy)
        .copy(serverTime = serverTime(response))
    }

  override def listShards(request: ListShardsRequest): ShardListing = request match {
    case First(stream, filter) =>
      val first = aws.ListShardsRequest.builder().shardFilter(shardFilter(filter))
      list(stream, forStream(stream)(first.streamName(_), first.streamARN(_)))
    // The service refuses a stream or a filter beside a token.
    case Next(stream, token) => list(stream, aws.ListShardsRequest.builder().nextToken(token))
  }

  private def list(stream: StreamRef, request: aws.ListShardsRequest.Builder): ShardListing =
    AwsErrors.translating(s"ListShards of stream $stream", location) {
      listing(sdk.listShards(request.build()))
    }

  override def shardIterator(stream: StreamRef, shard: ShardId, position: Position): ShardIterator =
    AwsErrors.translating(s"GetShardIterator of stream $stream, shard $shard", location) {
      val request = aws.GetShardIteratorRequest.builder().shardId(shard.name)
      startAt(request, position)
      val response =
        sdk.getShardIterator(forStream(stream)(request.streamName(_), request.streamARN(_)).build())
      ShardIterator(response.shardIterator)
    }

  override def getRecords(stream: StreamRef, iterator: ShardIterator, limit: Int): Page =
    AwsErrors.translating(s"GetRecords of stream $stream", location) {
      val request = aws.GetRecordsRequest.builder().shardIterator(iterator.token).limit(limit)
      stream match {
        case StreamRef.ByArn(arn) => request.streamARN(arn.toString)
        case StreamRef.ByName(_) => () // the iterator identifies the stream
      }
      val decoded = new ResponseDecoder.Decoded(GetRecordsDecoder.decode)
      request.overrideConfiguration(carrying(ResponseDecoder.Attribute, decoded))
      val response = sdk.getRecords(request.build())
      decoded.value.getOrElse(pageBySdk(stream, response)).copy(serverTime = serverTime(response))
    }

  private def pageBySdk(stream: StreamRef, response: aws.GetRecordsResponse): Page = {
    val what = s"A response of GetRecords of stream $stream"
    warning.warn("GetRecords", what, FallbackWarning.Cbor)
    page(response).copy(isFallback = true)
  }

  override def putRecords(stream: StreamRef, entries: Seq[PutEntry]): Seq[PutResult] =
    put(stream, entries, None, () => true)

  override def putRecords(
      stream: StreamRef,
      entries: Seq[PutEntry],
      timeout: FiniteDuration,
      mayLeave: () => Boolean
  ): Seq[PutResult] = put(stream, entries, Some(timeout), mayLeave)

  private def put(
      stream: StreamRef,
      entries: Seq[PutEntry],
      timeout: Option[FiniteDuration],
      mayLeave: () => Boolean
  ): Seq[PutResult] =
    AwsErrors.translating(s"PutRecords of stream $stream", location) {
      val body = if (encodes) PutRecordsEncoder.encode(stream, entries) else None
      try send(stream, entries, body, timeout, mayLeave)
      catch {
        case _: RequestBodyOverride.OtherProtocol =>
          encodes = false
          send(stream, entries, None, timeout, mayLeave)
      }
    }

  /** @param body `None` if the SDK must encode the entries */
  private def send(
      stream: StreamRef,
      entries: Seq[PutEntry],
      body: Option[EncodedBody],
      timeout: Option[FiniteDuration],
      mayLeave: () => Boolean
  ): Seq[PutResult] = {
    val decoded = new ResponseDecoder.Decoded(PutRecordsDecoder.decode)
    val configuration = AwsRequestOverrideConfiguration
      .builder()
      .putExecutionAttribute(ResponseDecoder.Attribute, decoded)
      .putExecutionAttribute[() => Unit](
        LastCheck.Attribute,
        () => KinesisClient.checkMayLeave(mayLeave)
      )
    timeout.foreach(it => configuration.apiCallAttemptTimeout(it.toJava))
    val request = aws.PutRecordsRequest.builder()
    body match {
      case Some(encoded) => configuration.putExecutionAttribute(RequestBodyOverride.Body, encoded)
      case None => request.records(entries.map(requestEntry).asJava)
    }
    request.overrideConfiguration(configuration.build())
    val response =
      sdk.putRecords(forStream(stream)(request.streamName(_), request.streamARN(_)).build())
    def bySdk = response.records.asScala.iterator.map(putResult).toVector
    val results = decoded.value.getOrElse(bySdk)
    if (body.nonEmpty && decoded.value.nonEmpty) results
    else {
      val what = s"A request or response of PutRecords of stream $stream"
      warning.warn("PutRecords", what, FallbackWarning.Cbor)
      new PutResult.Fallback(results.toIndexedSeq)
    }
  }

  override def close(): Unit =
    try sdk.close()
    finally closeAlso()

  /** Passes a value of this call to an interceptor. */
  private def carrying[A](attribute: ExecutionAttribute[A], value: A) =
    AwsRequestOverrideConfiguration.builder().putExecutionAttribute(attribute, value).build()

  private def forStream[B](stream: StreamRef)(byName: String => B, byArn: String => B): B =
    stream match {
      case StreamRef.ByName(name) => byName(name.name)
      case StreamRef.ByArn(arn) => byArn(arn.toString)
    }
}
