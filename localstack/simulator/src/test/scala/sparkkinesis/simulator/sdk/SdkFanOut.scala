package sparkkinesis.simulator.sdk

import java.net.URI
import java.util.concurrent.{CompletableFuture, ExecutionException, TimeUnit}

import scala.annotation.tailrec
import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import software.amazon.awssdk.auth.credentials.{AwsBasicCredentials, StaticCredentialsProvider}
import software.amazon.awssdk.http.Protocol
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient
import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient
import software.amazon.awssdk.services.kinesis.{model => aws}

import sparkkinesis.client.{
  ConsumerRef,
  ConsumerStatus,
  ConsumerSummary,
  KinesisException,
  SystemClock
}
import sparkkinesis.model.{ConsumerArn, Position, ShardId, StreamArn}
import sparkkinesis.simulator.operation.ConsumersPage
import sparkkinesis.simulator.service.SimulatedKinesis

/** Enhanced fan-out by AWS's own SDK. */
final class SdkFanOut(val sdk: KinesisAsyncClient) extends FanOutCalls with AutoCloseable {

  /** Calls the server at the endpoint. */
  def this(endpoint: URI, protocol: Protocol) = this(
    KinesisAsyncClient
      .builder()
      .region(Region.of(SimulatedKinesis.Region))
      .endpointOverride(endpoint)
      .credentialsProvider(
        StaticCredentialsProvider.create(AwsBasicCredentials.create("id", "key"))
      )
      .httpClientBuilder(
        NettyNioAsyncHttpClient
          .builder()
          .protocol(protocol)
          .maxConcurrency(1000)
          .readTimeout(java.time.Duration.ofMinutes(1))
      )
      .build()
  )

  override def register(stream: StreamArn, name: String): ConsumerSummary = {
    val request =
      aws.RegisterStreamConsumerRequest.builder().streamARN(stream.toString).consumerName(name)
    val made = answer(sdk.registerStreamConsumer(request.build())).consumer
    await(s"consumer $name to be active") {
      status(ConsumerRef.ByName(stream, name)).contains(ConsumerStatus.Active)
    }
    summary(made)
  }

  override def describe(consumer: ConsumerRef): ConsumerSummary = {
    val request = aws.DescribeStreamConsumerRequest.builder()
    consumer match {
      case ConsumerRef.ByArn(arn) => request.consumerARN(arn.toString)
      case ConsumerRef.ByName(stream, name) =>
        request.streamARN(stream.toString).consumerName(name)
    }
    val found = answer(sdk.describeStreamConsumer(request.build())).consumerDescription
    summary(
      aws.Consumer
        .builder()
        .consumerARN(found.consumerARN)
        .consumerStatus(found.consumerStatus)
        .consumerCreationTimestamp(found.consumerCreationTimestamp)
        .build()
    )
  }

  override def list(stream: StreamArn, token: Option[String], limit: Int): ConsumersPage = {
    val request = aws.ListStreamConsumersRequest
      .builder()
      .streamARN(stream.toString)
      .maxResults(limit)
      .nextToken(token.orNull)
    val page = answer(sdk.listStreamConsumers(request.build()))
    ConsumersPage(page.consumers.asScala.map(summary).toVector, Option(page.nextToken))
  }

  override def deregister(consumer: ConsumerRef): Unit = {
    val request = aws.DeregisterStreamConsumerRequest.builder()
    consumer match {
      case ConsumerRef.ByArn(arn) => request.consumerARN(arn.toString)
      case ConsumerRef.ByName(stream, name) =>
        request.streamARN(stream.toString).consumerName(name)
    }
    answer(sdk.deregisterStreamConsumer(request.build()))
    await(s"consumer $consumer to be gone")(status(consumer).isEmpty)
  }

  override def deleteStream(stream: StreamArn): Unit = {
    val request = aws.DeleteStreamRequest
      .builder()
      .streamARN(stream.toString)
      .enforceConsumerDeletion(true)
      .build()
    answer(sdk.deleteStream(request))
    val description =
      aws.DescribeStreamSummaryRequest.builder().streamARN(stream.toString).build()
    await(s"stream $stream to be gone") {
      try {
        answer(sdk.describeStreamSummary(description))
        false
      } catch { case _: KinesisException.NotFound => true }
    }
  }

  override def subscribe(
      consumer: ConsumerArn,
      shard: ShardId,
      position: Position
  ): SdkSubscription = {
    val request = aws.SubscribeToShardRequest
      .builder()
      .consumerARN(consumer.toString)
      .shardId(shard.name)
      .startingPosition(startingPosition(position))
      .build()
    val subscription = new SdkSubscription
    subscription.start(sdk.subscribeToShard(request, subscription.handler))
    subscription
  }

  override def close(): Unit = sdk.close()

  private def status(consumer: ConsumerRef): Option[ConsumerStatus] =
    try Some(describe(consumer).status)
    catch { case _: KinesisException.NotFound => None }

  private def summary(it: aws.Consumer): ConsumerSummary = ConsumerSummary(
    ConsumerArn.parse(it.consumerARN).get,
    it.consumerStatus match {
      case aws.ConsumerStatus.CREATING => ConsumerStatus.Creating
      case aws.ConsumerStatus.DELETING => ConsumerStatus.Deleting
      case _ => ConsumerStatus.Active
    },
    it.consumerCreationTimestamp
  )

  private def startingPosition(position: Position): aws.StartingPosition = {
    import aws.ShardIteratorType._
    val it = aws.StartingPosition.builder()
    (position match {
      case Position.TrimHorizon => it.`type`(TRIM_HORIZON)
      case Position.Latest => it.`type`(LATEST)
      case Position.AtTimestamp(instant) => it.`type`(AT_TIMESTAMP).timestamp(instant)
      case Position.AtSequenceNumber(n) => it.`type`(AT_SEQUENCE_NUMBER).sequenceNumber(n.text)
      case Position.AfterSequenceNumber(n) =>
        it.`type`(AFTER_SEQUENCE_NUMBER).sequenceNumber(n.text)
    }).build()
  }

  private def answer[A](future: CompletableFuture[A]): A =
    try future.get(30, TimeUnit.SECONDS)
    catch { case e: ExecutionException => throw SdkSubscription.translated(e) }

  @tailrec private def await(what: String, attempts: Int = 500)(condition: => Boolean): Unit =
    if (!condition) {
      if (attempts == 0) throw new IllegalStateException(s"Waited too long for $what.")
      SystemClock.sleep(20.millis)
      await(what, attempts - 1)(condition)
    }
}
