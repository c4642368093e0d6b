package sparkkinesis.simulator.sdk

import java.net.URI

import scala.annotation.tailrec
import scala.concurrent.duration._

import software.amazon.awssdk.auth.credentials.{AwsBasicCredentials, StaticCredentialsProvider}
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy
import software.amazon.awssdk.core.SdkBytes
import software.amazon.awssdk.http.apache5.Apache5HttpClient
import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.services.kinesis.{KinesisClient => SdkClient}
import software.amazon.awssdk.services.kinesis.{model => aws}

import sparkkinesis.client.{KinesisException, PutResult, SystemClock}
import sparkkinesis.model.{HashKey, PutEntry, SequenceNumber, ShardId, StreamName}
import sparkkinesis.simulator.service.SimulatedKinesis

/** The admin calls by AWS's own SDK. */
final class SdkKinesisAdmin(override val sdk: SdkClient) extends SdkStreamAdmin with AutoCloseable {

  /** Calls the server at the endpoint. */
  def this(endpoint: URI) = this(
    SdkClient
      .builder()
      .region(Region.of(SimulatedKinesis.Region))
      .endpointOverride(endpoint)
      .credentialsProvider(
        StaticCredentialsProvider.create(AwsBasicCredentials.create("id", "key"))
      )
      .httpClientBuilder(Apache5HttpClient.builder())
      .overrideConfiguration { c =>
        c.retryStrategy(AwsRetryStrategy.doNotRetry()).addExecutionInterceptor(SdkNewOperations)
        ()
      }
      .build()
  )

  override def createStream(stream: StreamName, shards: Int): Unit = translated {
    sdk.createStream(
      aws.CreateStreamRequest.builder().streamName(stream.name).shardCount(shards).build()
    )
    awaitActive(stream)
  }

  override def deleteStream(stream: StreamName): Unit = translated {
    sdk.deleteStream(aws.DeleteStreamRequest.builder().streamName(stream.name).build())
    await(s"stream $stream to be gone")(status(stream).isEmpty)
  }

  override def splitShard(stream: StreamName, shard: ShardId, start: HashKey): Unit = translated {
    sdk.splitShard(
      aws.SplitShardRequest
        .builder()
        .streamName(stream.name)
        .shardToSplit(shard.name)
        .newStartingHashKey(start.toString)
        .build()
    )
    awaitActive(stream)
  }

  override def mergeShards(stream: StreamName, shard: ShardId, adjacent: ShardId): Unit =
    translated {
      sdk.mergeShards(
        aws.MergeShardsRequest
          .builder()
          .streamName(stream.name)
          .shardToMerge(shard.name)
          .adjacentShardToMerge(adjacent.name)
          .build()
      )
      awaitActive(stream)
    }

  override def updateShardCount(stream: StreamName, target: Int): Unit = translated {
    sdk.updateShardCount(
      aws.UpdateShardCountRequest
        .builder()
        .streamName(stream.name)
        .targetShardCount(target)
        .scalingType(aws.ScalingType.UNIFORM_SCALING)
        .build()
    )
    awaitActive(stream)
  }

  override def putRecord(stream: StreamName, entry: PutEntry): PutResult.Written = translated {
    val request = aws.PutRecordRequest
      .builder()
      .streamName(stream.name)
      .partitionKey(entry.partitionKey)
      .data(SdkBytes.fromByteArray(entry.data))
    entry.explicitHashKey.foreach(key => request.explicitHashKey(key.toString))
    val answer = sdk.putRecord(request.build())
    PutResult.Written(ShardId(answer.shardId), SequenceNumber(answer.sequenceNumber))
  }

  override def close(): Unit = sdk.close()

  override protected def awaitActive(stream: StreamName): Unit =
    await(s"stream $stream to be active")(status(stream).contains(aws.StreamStatus.ACTIVE))

  private def status(stream: StreamName): Option[aws.StreamStatus] =
    try {
      val request = aws.DescribeStreamSummaryRequest.builder().streamName(stream.name).build()
      Some(sdk.describeStreamSummary(request).streamDescriptionSummary.streamStatus)
    } catch { case _: aws.ResourceNotFoundException => None }

  @tailrec private def await(what: String, attempts: Int = 500)(condition: => Boolean): Unit =
    if (!condition) {
      if (attempts == 0) throw new IllegalStateException(s"Waited too long for $what.")
      SystemClock.sleep(20.millis)
      await(what, attempts - 1)(condition)
    }

  override protected def translated[A](call: => A): A =
    try call
    catch {
      case e: aws.ResourceNotFoundException => throw new KinesisException.NotFound(e.getMessage, e)
      case e: aws.ResourceInUseException => throw new KinesisException.InUse(e.getMessage, e)
      case e: aws.ProvisionedThroughputExceededException =>
        throw new KinesisException.Throttled(e.getMessage, e)
      case e: aws.LimitExceededException =>
        throw new KinesisException.LimitExceeded(e.getMessage, e)
      case e: aws.InvalidArgumentException =>
        throw new KinesisException.InvalidArgument(e.getMessage, e)
      case e: aws.ValidationException =>
        throw new KinesisException.InvalidArgument(e.getMessage, e)
    }
}
