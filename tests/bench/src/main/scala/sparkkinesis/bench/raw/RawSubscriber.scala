package sparkkinesis.bench.raw

import java.net.URI
import java.util.concurrent.atomic.AtomicLong
import java.util.concurrent.{CompletableFuture, TimeUnit}

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import org.reactivestreams.{Subscriber, Subscription}
import software.amazon.awssdk.auth.credentials.{AwsBasicCredentials, StaticCredentialsProvider}
import software.amazon.awssdk.core.async.SdkPublisher
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient
import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient
import software.amazon.awssdk.services.kinesis.model._

import sparkkinesis.bench.sizing.Load

/** The SDK's own subscriptions, one per shard, without limits: the baseline of enhanced fan-out. */
final class RawSubscriber(endpoint: URI, stream: String) extends AutoCloseable {
  import RawSubscriber._

  private val plain = new RawClient(endpoint)
  private val sdk = KinesisAsyncClient
    .builder()
    .endpointOverride(endpoint)
    .region(Region.of(RawClient.Region))
    .credentialsProvider(
      StaticCredentialsProvider.create(AwsBasicCredentials.create(RawClient.Key, RawClient.Key))
    )
    .httpClientBuilder(
      NettyNioAsyncHttpClient.builder().maxConcurrency(1000)
    )
    .build()

  /** Reads each shard from its beginning to its tip. */
  def drain(expected: Load): Unit = {
    val consumer = register()
    val (records, bytes) = (new AtomicLong, new AtomicLong)
    val shards = plain.shards(stream).map { shard =>
      val reader = new ShardSubscriber(records, bytes)
      sdk.subscribeToShard(request(consumer, shard), reader.handler).whenComplete { (_, e) =>
        if (e != null) reader.done.completeExceptionally(e)
        ()
      }
      reader.done
    }
    CompletableFuture.allOf(shards: _*).get(Limit.toSeconds, TimeUnit.SECONDS)
    val found = (records.get, bytes.get)
    if (found != (expected.records.toLong, expected.bytes))
      throw new IllegalStateException(s"The raw subscriptions read $found for $expected.")
  }

  private def register(): String = {
    val arn = plain.sdk
      .describeStreamSummary { b => b.streamName(stream); () }
      .streamDescriptionSummary
      .streamARN
    try plain.sdk.registerStreamConsumer { b => b.streamARN(arn).consumerName(Name); () }: Unit
    catch { case _: ResourceInUseException => () }
    def found = plain.sdk.describeStreamConsumer { b =>
      b.streamARN(arn).consumerName(Name); ()
    }.consumerDescription
    Waiting.until("the consumer", Limit)(found.consumerStatus == ConsumerStatus.ACTIVE)
    found.consumerARN
  }

  private def request(consumer: String, shard: String): SubscribeToShardRequest =
    SubscribeToShardRequest
      .builder()
      .consumerARN(consumer)
      .shardId(shard)
      .startingPosition { p => p.`type`(ShardIteratorType.TRIM_HORIZON); () }
      .build()

  override def close(): Unit =
    try sdk.close()
    finally plain.close()
}

private object RawSubscriber {
  val Name = "raw"
  val Limit: FiniteDuration = 2.minutes

  final class ShardSubscriber(records: AtomicLong, bytes: AtomicLong)
      extends Subscriber[SubscribeToShardEventStream] {
    val done = new CompletableFuture[Unit]
    private var upstream = Option.empty[Subscription]

    val handler: SubscribeToShardResponseHandler = new SubscribeToShardResponseHandler {
      override def responseReceived(answer: SubscribeToShardResponse): Unit = ()
      override def onEventStream(events: SdkPublisher[SubscribeToShardEventStream]): Unit =
        events.subscribe(ShardSubscriber.this)
      override def exceptionOccurred(e: Throwable): Unit = fail(e)
      override def complete(): Unit = ()
    }

    override def onSubscribe(events: Subscription): Unit = {
      upstream = Some(events)
      events.request(Long.MaxValue)
    }

    override def onNext(it: SubscribeToShardEventStream): Unit = it match {
      case event: SubscribeToShardEvent =>
        records.addAndGet(event.records.size.toLong)
        bytes.addAndGet(event.records.asScala.foldLeft(0L)(_ + _.data.asByteArrayUnsafe.length))
        if (event.millisBehindLatest == 0) {
          done.complete(())
          upstream.foreach(_.cancel())
        }
      case _ => ()
    }

    override def onError(e: Throwable): Unit = fail(e)

    override def onComplete(): Unit = ()

    private def fail(e: Throwable): Unit = {
      done.completeExceptionally(e)
      ()
    }
  }
}
