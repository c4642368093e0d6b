package sparkkinesis.bench.raw

import java.net.URI
import java.util.concurrent.{Callable, Executors, TimeUnit}

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import software.amazon.awssdk.auth.credentials.{AwsBasicCredentials, StaticCredentialsProvider}
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy
import software.amazon.awssdk.http.apache5.Apache5HttpClient
import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.services.kinesis.KinesisClient
import software.amazon.awssdk.services.kinesis.model.{ResourceNotFoundException, StreamStatus}

/**
 * A plain client of the AWS SDK, the baseline of all comparisons.
 *
 * @param retries whether the SDK repeats failed calls
 */
final class RawClient(endpoint: URI, retries: Boolean = true) extends AutoCloseable {
  val sdk: KinesisClient = KinesisClient
    .builder()
    .overrideConfiguration { c =>
      if (!retries) c.retryStrategy(AwsRetryStrategy.doNotRetry())
      ()
    }
    .endpointOverride(endpoint)
    .region(Region.of(RawClient.Region))
    .credentialsProvider(
      StaticCredentialsProvider.create(AwsBasicCredentials.create(RawClient.Key, RawClient.Key))
    )
    .httpClientBuilder(Apache5HttpClient.builder().maxConnections(64))
    .build()

  /** Creates a stream, and returns when it is active. */
  def createStream(stream: String, shards: Int): Unit = {
    sdk.createStream { b => b.streamName(stream).shardCount(shards); () }
    awaitActive(stream)
  }

  /** Raises the retention period of a stream. */
  def keepLonger(stream: String, retention: FiniteDuration): Unit = {
    sdk.increaseStreamRetentionPeriod { b =>
      b.streamName(stream).retentionPeriodHours(retention.toHours.toInt)
      ()
    }
    awaitActive(stream)
  }

  /** Deletes a stream, and returns when it no longer exists. */
  def deleteStream(stream: String): Unit = {
    sdk.deleteStream { b => b.streamName(stream).enforceConsumerDeletion(true); () }
    awaitStatus(stream, None)
  }

  def awaitActive(stream: String): Unit = awaitStatus(stream, Some(StreamStatus.ACTIVE))

  /** Waits for the status, at the call rate that the service allows. */
  private def awaitStatus(stream: String, wanted: Option[StreamStatus]): Unit =
    Waiting.until(s"stream $stream", RawClient.ChangeLimit, RawClient.StatusPeriod) {
      status(stream) == wanted
    }

  private def status(stream: String): Option[StreamStatus] =
    try {
      val answer = sdk.describeStreamSummary { b => b.streamName(stream); () }
      Some(answer.streamDescriptionSummary.streamStatus)
    } catch { case _: ResourceNotFoundException => None }

  /** At most 1,000 shards, in a new stream in the order of their hash keys. */
  def shards(stream: String): Seq[String] =
    sdk.listShards { b => b.streamName(stream); () }.shards.asScala.map(_.shardId).toSeq

  def iterator(stream: String, shard: String, position: String): String = sdk.getShardIterator {
    b =>
      b.streamName(stream).shardId(shard).shardIteratorType(position)
      ()
  }.shardIterator

  override def close(): Unit = sdk.close()
}

object RawClient {
  val Region = "us-east-1"

  /** The access key. A local Kinesis accepts any. */
  val Key = "bench"

  /** Number of threads of the raw loops. */
  val Threads = 4

  private val ChangeLimit = 30.seconds
  private val StatusPeriod = 100.millis

  /** Runs all tasks. The first failure, or the limit, interrupts the others. */
  def inParallel(tasks: Seq[() => Unit], limit: FiniteDuration, threads: Int = Threads): Unit = {
    val pool = Executors.newFixedThreadPool(threads)
    try {
      val calls: Seq[Callable[Unit]] = tasks.map(task => () => task())
      val done = pool.invokeAll(calls.asJava, limit.toMillis, TimeUnit.MILLISECONDS)
      done.asScala.foreach(_.get())
    } finally {
      pool.shutdownNow()
      ()
    }
  }
}
