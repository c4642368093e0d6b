package sparkkinesis.client.aws

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, InputStream}
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.{ISO_8859_1, UTF_8}
import java.nio.file.{Files, Path}
import java.util.Optional
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.Try

import org.reactivestreams.Publisher
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder
import software.amazon.awssdk.core.SdkBytes
import software.amazon.awssdk.core.async.SdkPublisher
import software.amazon.awssdk.core.interceptor._
import software.amazon.awssdk.http.SdkHttpResponse
import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.services.kinesis.model._
import software.amazon.awssdk.services.kinesis.{
  KinesisAsyncClient,
  KinesisAsyncClientBuilder,
  KinesisClient => SdkClient,
  KinesisClientBuilder
}

import sparkkinesis.client.aws.credentials.ClientCredentials
import sparkkinesis.client.{ClientConfig, CredentialsConfig, CredentialsSource}

/**
 * Makes each call that the connector makes, and stores the answers as bytes: of records, of a
 * closed shard, of subscriptions, and of refusals. For `make record-aws`, which costs a few cents:
 * it creates a stream of one shard and a consumer, and deletes both.
 *
 * An answer is a file `NN-Operation.head`, with its status and headers, and one
 * `NN-Operation.body`. The account is replaced in the bodies. Only headers that a decoder reads
 * keep their values.
 *
 * @param folder receives the files
 */
final class AnswerRecorder(config: ClientConfig, folder: Path) extends AutoCloseable {
  import AnswerRecorder._

  private val number = new AtomicInteger
  @volatile private var account = NoAccount
  private val credentials = ClientCredentials.open(config)
  private val sdk = opened[KinesisClientBuilder, SdkClient](SdkClient.builder())
  private val async =
    opened[KinesisAsyncClientBuilder, KinesisAsyncClient](KinesisAsyncClient.builder())

  private def opened[B <: AwsClientBuilder[B, C], C](builder: B): C = {
    config.endpoint.foreach(it => builder.endpointOverride(it): Unit)
    builder
      .region(Region.of(config.region))
      .credentialsProvider(credentials.provider)
      .overrideConfiguration { it => it.addExecutionInterceptor(recording); () }
      .build()
  }

  def record(): Unit = {
    Files.createDirectories(folder)
    val name = s"spark-kinesis-recording-${System.currentTimeMillis}"
    refusals(name)
    sdk.createStream { it => it.streamName(name).shardCount(1); () }
    try {
      val arn = awaitActive(name)
      account = arn.split(':')(4)
      put(name)
      val shard = sdk.listShards { it => it.streamName(name); () }.shards.get(0)
      poll(name, shard.shardId, pages = 3)
      sdk.splitShard { it =>
        it.streamName(name).shardToSplit(shard.shardId).newStartingHashKey(HalfOfHashKeys); ()
      }
      awaitActive(name)
      poll(name, shard.shardId, pages = 10)
      subscribe(arn, shard.shardId)
    } finally
      sdk.deleteStream { it => it.streamName(name).enforceConsumerDeletion(true); () }: Unit
  }

  private def refusals(nowhere: String): Unit = {
    Try(sdk.describeStreamSummary { it => it.streamName(nowhere); () })
    Try(sdk.getRecords { it => it.shardIterator("none"); () })
    Try(sdk.putRecords { it => it.streamName(nowhere).records(entry("k", 10)); () }): Unit
  }

  private def awaitActive(name: String): String = awaited(s"stream $name") {
    val found =
      sdk.describeStreamSummary { it => it.streamName(name); () }.streamDescriptionSummary
    Option.when(found.streamStatus == StreamStatus.ACTIVE)(found.streamARN)
  }

  /** Keys with quotes and other alphabets; then more than the quota of a second. */
  private def put(name: String): Unit = {
    val few = Seq("plain", "{\"id\": \"quoted\\\"\"}", "ключ-🔑").map(entry(_, 100))
    val many = Seq.fill(4)(entry("large", 250000))
    (few +: Seq.fill(3)(many)).foreach { entries =>
      sdk.putRecords { it => it.streamName(name).records(entries.asJava); () }
    }
  }

  private def poll(name: String, shard: String, pages: Int): Unit = {
    val first = sdk.getShardIterator { it =>
      it.streamName(name).shardId(shard).shardIteratorType(ShardIteratorType.TRIM_HORIZON); ()
    }
    Iterator
      .iterate(first.shardIterator) { iterator =>
        Thread.sleep(PauseOfCalls.toMillis)
        sdk.getRecords { it => it.shardIterator(iterator).limit(10); () }.nextShardIterator
      }
      .take(pages + 1)
      .takeWhile(_ != null)
      .foreach(_ => ())
  }

  /** The events of a closed shard, and the refusal of a second subscription. */
  private def subscribe(stream: String, shard: String): Unit = {
    sdk.registerStreamConsumer { it => it.streamARN(stream).consumerName("recording"); () }
    val consumer = awaited("the consumer") {
      val found = sdk.describeStreamConsumer { it =>
        it.streamARN(stream).consumerName("recording"); ()
      }.consumerDescription
      Option.when(found.consumerStatus == ConsumerStatus.ACTIVE)(found.consumerARN)
    }
    val ignore: java.util.function.Consumer[SubscribeToShardEventStream] = _ => ()
    def subscription() = async.subscribeToShard(
      SubscribeToShardRequest
        .builder()
        .consumerARN(consumer)
        .shardId(shard)
        .startingPosition { it => it.`type`(ShardIteratorType.TRIM_HORIZON); () }
        .build(),
      SubscribeToShardResponseHandler.builder().subscriber(ignore).build()
    )
    val one = subscription()
    val other = subscription()
    Seq(one, other).foreach(it => Try(it.get(OfSubscription.toSeconds, TimeUnit.SECONDS)))
  }

  private def awaited(what: String)(find: => Option[String]): String = Iterator
    .continually {
      Thread.sleep(PauseOfCalls.toMillis)
      find
    }
    .take(MostLooks)
    .collectFirst { case Some(found) => found }
    .getOrElse(sys.error(s"$what did not become active."))

  private def entry(key: String, size: Int): PutRecordsRequestEntry = PutRecordsRequestEntry
    .builder()
    .partitionKey(key)
    .data(SdkBytes.fromByteArray(Array.tabulate(size)(_.toByte)))
    .build()

  private object recording extends ExecutionInterceptor {
    override def modifyHttpResponseContent(
        context: Context.ModifyHttpResponse,
        attributes: ExecutionAttributes
    ): Optional[InputStream] = {
      val body = context.responseBody.map[Array[Byte]](_.readAllBytes()).orElse(Array.empty[Byte])
      save(operation(attributes), context.httpResponse, body)
      Optional.of(new ByteArrayInputStream(body))
    }

    /** Stores after each part what has come so far, because a subscription may never end. */
    override def modifyAsyncHttpResponseContent(
        context: Context.ModifyHttpResponse,
        attributes: ExecutionAttributes
    ): Optional[Publisher[ByteBuffer]] = {
      val body = new ByteArrayOutputStream
      val place = save(operation(attributes), context.httpResponse, body.toByteArray)
      context.responsePublisher.map[Publisher[ByteBuffer]] { parts =>
        SdkPublisher.adapt(parts).map[ByteBuffer] { part =>
          val bytes = new Array[Byte](part.remaining)
          part.duplicate().get(bytes)
          body.write(bytes)
          Files.write(place, body.toByteArray)
          part
        }
      }
    }

    private def operation(attributes: ExecutionAttributes): String =
      attributes.getAttribute(SdkExecutionAttribute.OPERATION_NAME)
  }

  /** Returns the file of the body. */
  private def save(operation: String, head: SdkHttpResponse, body: Array[Byte]): Path = {
    val name = f"${number.incrementAndGet()}%02d-$operation"
    val headers = head.headers.asScala.toSeq.map { case (header, values) =>
      val isKept = KeptHeaders(header.toLowerCase)
      s"$header: ${if (isKept) values.asScala.mkString(", ") else "***"}"
    }
    val lines = head.statusCode.toString +: headers.sorted
    Files.write(folder.resolve(s"$name.head"), lines.asJava, UTF_8)
    Files.write(folder.resolve(s"$name.body"), body)
  }

  /**
   * Replaces the account in ARNs. The replacement has the same length, so that the bytes stay
   * valid. Messages of a subscription have checksums: a body of them with an ARN is a refusal, and
   * is dropped.
   */
  private def mask(file: Path): Unit = {
    val text = new String(Files.readAllBytes(file), ISO_8859_1)
    if (!text.contains(s":$account:")) ()
    else if (file.toString.contains("SubscribeToShard")) {
      Files.delete(file)
      Files.delete(Path.of(file.toString.stripSuffix(".body") + ".head"))
    } else
      Files.write(file, text.replace(s":$account:", s":$NoAccount:").getBytes(ISO_8859_1)): Unit
  }

  private def maskBodies(): Unit = {
    val files = Files.list(folder)
    val bodies =
      try files.iterator.asScala.filter(_.toString.endsWith(".body")).toVector
      finally files.close()
    bodies.foreach(mask)
  }

  /** Replaces the account in all bodies at last: a subscription adds to its body until it ends. */
  override def close(): Unit =
    try sdk.close()
    finally
      try async.close()
      finally
        try credentials.close()
        finally maskBodies()
}

object AnswerRecorder {

  /** Arguments: region, folder. With the credentials of the default chain. */
  def main(args: Array[String]): Unit = {
    require(args.length == 2, "Arguments: region, folder")
    val (region, folder) = (args(0), args(1))
    val chain = CredentialsConfig(CredentialsSource.DefaultChain, role = None)
    val recorder = new AnswerRecorder(ClientConfig(region, None, chain), Path.of(folder))
    try recorder.record()
    finally recorder.close()
    println(s"The answers are in $folder. Commit them: AnswerRecorderSuite reads them.")
  }

  private val NoAccount = "123456789012"
  private val HalfOfHashKeys = BigInt(2).pow(127).toString
  private val PauseOfCalls = 300.millis
  private val OfSubscription = 20.seconds
  private val MostLooks = 1000
  private val KeptHeaders = Set(
    "content-encoding",
    "content-length",
    "content-type",
    "date",
    "transfer-encoding",
    "x-amz-crc32",
    "x-amzn-errortype"
  )
}
