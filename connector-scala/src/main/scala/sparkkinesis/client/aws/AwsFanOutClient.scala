package sparkkinesis.client.aws

import scala.util.control.NonFatal

import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration
import software.amazon.awssdk.awscore.exception.AwsServiceException
import software.amazon.awssdk.services.kinesis.{
  KinesisAsyncClient,
  KinesisClient => SdkClient,
  model => aws
}

import sparkkinesis.client._
import sparkkinesis.client.aws.http.AnswerBody
import sparkkinesis.model._

/**
 * [[FanOutClient]] over the AWS SDK.
 *
 * @param sdk for calls with one answer
 * @param location region and endpoint, for messages
 * @param warning of events that our decoder cannot decode
 * @param createAsync for subscriptions; called once, if there is a first one
 */
private[aws] final class AwsFanOutClient(
    sdk: SdkClient,
    location: String,
    warning: FallbackWarning,
    createAsync: () => KinesisAsyncClient
) extends FanOutClient
    with AutoCloseable {
  import AwsFanOutClient._

  private var created = Option.empty[KinesisAsyncClient]
  private var isClosed = false

  override def describe(consumer: ConsumerRef): ConsumerSummary =
    answering(s"DescribeStreamConsumer of consumer $consumer") {
      val request = aws.DescribeStreamConsumerRequest.builder()
      consumer match {
        case ConsumerRef.ByArn(arn) => request.consumerARN(arn.toString)
        case ConsumerRef.ByName(stream, name) =>
          request.streamARN(stream.toString).consumerName(name)
      }
      val found = sdk.describeStreamConsumer(request.build()).consumerDescription
      AwsConversions.consumer(
        found.consumerARN,
        found.consumerStatus,
        found.consumerCreationTimestamp
      )
    }

  override def register(stream: StreamArn, name: String): ConsumerSummary =
    answering(s"RegisterStreamConsumer of consumer $name, stream $stream") {
      val request =
        aws.RegisterStreamConsumerRequest.builder().streamARN(stream.toString).consumerName(name)
      val made = sdk.registerStreamConsumer(request.build()).consumer
      AwsConversions.consumer(made.consumerARN, made.consumerStatus, made.consumerCreationTimestamp)
    }

  override def subscribe(
      consumer: ConsumerArn,
      shard: ShardId,
      position: Position,
      subscriber: EventSubscriber
  ): EventSubscription = {
    val what = s"SubscribeToShard of consumer $consumer, shard $shard"
    val subscription = new AwsEventSubscription(
      subscriber,
      ofSubscription(_, what),
      () => warning.warn("SubscribeToShard", s"An event of $what", FallbackWarning.Event)
    )
    val configuration = AwsRequestOverrideConfiguration
      .builder()
      .putExecutionAttribute(AnswerBody.Attribute, subscription)
    val request = aws.SubscribeToShardRequest
      .builder()
      .overrideConfiguration(configuration.build())
      .consumerARN(consumer.toString)
      .shardId(shard.name)
      .startingPosition(AwsConversions.startingPosition(position))
      .build()
    try subscription.begin(async.subscribeToShard(request, _))
    catch { case NonFatal(e) => subscription.failed(e) }
    subscription
  }

  /** Emulators without enhanced fan-out do not know the operation. */
  private def answering[A](what: String)(call: => A): A =
    try AwsErrors.translating(what, location)(call)
    catch {
      case e: KinesisException if isUnknown(e.getCause) =>
        throw new KinesisException.FanOutUnavailable(e.getMessage, e.getCause)
    }

  /**
   * A failure without an answer of the service is one of the network, which Netty names in many
   * ways.
   */
  private def ofSubscription(e: Throwable, what: String): KinesisException =
    AwsErrors.translate(e, what, location) match {
      case failure if isUnknown(e) =>
        new KinesisException.FanOutUnavailable(failure.getMessage, e)
      case failure: KinesisException.Other if !e.isInstanceOf[AwsServiceException] =>
        new KinesisException.Unreachable(failure.getMessage, e)
      case failure => failure
    }

  private def isUnknown(e: Throwable): Boolean = e match {
    case answer: AwsServiceException =>
      val code = Option(answer.awsErrorDetails).flatMap(details => Option(details.errorCode))
      answer.statusCode == NotImplemented || code.exists(UnknownCodes)
    case _ => false
  }

  private def async: KinesisAsyncClient = synchronized {
    if (isClosed) throw new IllegalStateException("The client is closed.")
    val client = created.getOrElse(createAsync())
    created = Some(client)
    client
  }

  override def close(): Unit = {
    val opened = synchronized {
      isClosed = true
      created
    }
    opened.foreach(_.close())
  }
}

private object AwsFanOutClient {

  /** HTTP status. */
  private val NotImplemented = 501

  /** Error codes of a service that does not know the operation. */
  private val UnknownCodes =
    Set("UnknownOperationException", "UnknownOperation", "InvalidAction", "NotImplemented")
}
