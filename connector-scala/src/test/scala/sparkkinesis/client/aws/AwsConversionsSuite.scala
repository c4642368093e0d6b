package sparkkinesis.client.aws

import java.time.Instant

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite
import software.amazon.awssdk.core.SdkBytes
import software.amazon.awssdk.http.SdkHttpResponse
import software.amazon.awssdk.services.kinesis.{model => sdk}

import sparkkinesis.Generators
import sparkkinesis.client.{PutResult, StreamStatus, StreamSummary}
import sparkkinesis.model._

class AwsConversionsSuite extends AnyFunSuite {
  private val arrival = Instant.ofEpochMilli(1700000000123L)

  private def hashKeys = sdk.HashKeyRange
    .builder()
    .startingHashKey("0")
    .endingHashKey(HashKey.Max.toString)
    .build()

  test("a record keeps its bytes by reference, and every digit of its sequence number") {
    val bytes = Array[Byte](1, 2, 3)
    val record = AwsConversions.record(
      sdk.Record
        .builder()
        .sequenceNumber("0049")
        .partitionKey("a")
        .data(SdkBytes.fromByteArrayUnsafe(bytes))
        .approximateArrivalTimestamp(arrival)
        .encryptionType(sdk.EncryptionType.KMS)
        .build()
    )
    assert(record.data eq bytes)
    assert(record.sequenceNumber.text === "0049")
    assert(record.partitionKey === Some("a"))
    assert(record.arrivalMillis === arrival.toEpochMilli)
    assert(record.encryptionType === Some("KMS"))
  }

  test("a field that the service leaves out of a record is None, not null") {
    val record = AwsConversions.record(sdk.Record.builder().sequenceNumber("1").build())
    assert(record.partitionKey === None)
    assert(record.data.isEmpty)
    assert(record.encryptionType === None)
  }

  test("a stream whose creation time the response lacks has an unknown one") {
    val it = sdk.StreamDescriptionSummary.builder().streamARN(Generators.arn.toString)
    def created = AwsConversions.summary(it.streamStatus("ACTIVE").build(), None).created
    assert(created === StreamSummary.UnknownCreation)
    it.streamCreationTimestamp(arrival)
    assert(created === arrival)
  }

  test("the last page of a closed shard names the children and no iterator") {
    val child =
      sdk.ChildShard.builder().shardId("c").parentShards("p", "q").hashKeyRange(hashKeys).build()
    val page = AwsConversions.page(sdk.GetRecordsResponse.builder().childShards(child).build())
    assert(page.next === None)
    assert(page.millisBehindLatest.isEmpty)
    assert(
      page.children === Seq(
        ChildShard(ShardId("c"), Seq("p", "q").map(ShardId(_)), HashKeyRange.All)
      )
    )
  }

  test("a listing has the server's time if the response has it") {
    val shard = sdk.Shard
      .builder()
      .shardId("s")
      .parentShardId("p")
      .adjacentParentShardId("q")
      .hashKeyRange(hashKeys)
      .sequenceNumberRange(sdk.SequenceNumberRange.builder().startingSequenceNumber("7").build())
      .build()
    def answer(http: SdkHttpResponse) = AwsConversions.listing(
      sdk.ListShardsResponse
        .builder()
        .shards(shard)
        .nextToken("t")
        .sdkHttpResponse(http)
        .build()
        .asInstanceOf[sdk.ListShardsResponse]
    )
    val dated =
      SdkHttpResponse.builder().putHeader("date", "Sun, 06 Nov 1994 08:49:37 GMT").build()
    val listing = answer(dated)
    assert(listing.serverTime === Some(Instant.parse("1994-11-06T08:49:37Z")))
    assert(listing.nextToken === Some("t"))
    assert(listing.shards.map(_.parents) === Seq(Seq("p", "q").map(ShardId(_))))
    assert(listing.shards.forall(_.isOpen))
    assert(answer(SdkHttpResponse.builder().build()).serverTime === None)
  }

  test("a summary has the stream's own record limit, or the default one") {
    val bare = sdk.StreamDescriptionSummary
      .builder()
      .streamARN("arn:aws:kinesis:eu-west-1:123456789012:stream/orders")
      .streamStatus("A_NEW_STATUS")
      .streamCreationTimestamp(arrival)
      .retentionPeriodHours(48)
      .openShardCount(3)
    val summary = AwsConversions.summary(bare.build(), None)
    assert(summary.status === StreamStatus.Updating)
    assert(summary.maxRecordBytes === 1024 * 1024)
    assert(summary.retention === 48.hours)
    val large = AwsConversions.summary(bare.maxRecordSizeInKiB(10240).build(), None)
    assert(large.maxRecordBytes === 10 * 1024 * 1024)
  }

  test("records go to shards by their keys, unless the service names any other strategy") {
    val it = sdk.StreamDescriptionSummary
      .builder()
      .streamARN("arn:aws:kinesis:eu-west-1:123456789012:stream/orders")
      .streamStatus("ACTIVE")
      .build()
    def of(strategy: Option[String]) = AwsConversions.summary(it, strategy).distribution
    assert(of(None) === None)
    def inMode(mode: sdk.StreamMode) =
      it.copy(_.streamModeDetails(sdk.StreamModeDetails.builder().streamMode(mode).build()): Unit)
    def unnamed(mode: sdk.StreamMode) = AwsConversions.summary(inMode(mode), None).distribution
    assert(unnamed(sdk.StreamMode.PROVISIONED) === Some(RecordDistribution.UserPartitionKey))
    assert(unnamed(sdk.StreamMode.ON_DEMAND) === None)
    assert(of(Some("USER_PARTITION_KEY")) === Some(RecordDistribution.UserPartitionKey))
    Seq("AUTO", "A_NEW_STRATEGY").foreach { word =>
      assert(of(Some(word)) === Some(RecordDistribution.Auto))
    }
  }

  test("each position has its iterator type") {
    def request(position: Position) = {
      val it = sdk.GetShardIteratorRequest.builder()
      AwsConversions.startAt(it, position)
      val built = it.build()
      (
        built.shardIteratorTypeAsString,
        Option(built.startingSequenceNumber),
        Option(built.timestamp)
      )
    }
    val number = SequenceNumber("42")
    assert(request(Position.TrimHorizon) === (("TRIM_HORIZON", None, None)))
    assert(request(Position.Latest) === (("LATEST", None, None)))
    assert(request(Position.AtTimestamp(arrival)) === (("AT_TIMESTAMP", None, Some(arrival))))
    assert(
      request(Position.AtSequenceNumber(number)) === (("AT_SEQUENCE_NUMBER", Some("42"), None))
    )
    assert(
      request(Position.AfterSequenceNumber(number)) ===
        (("AFTER_SEQUENCE_NUMBER", Some("42"), None))
    )
  }

  test("the result of an entry is a place or a reason") {
    val written = sdk.PutRecordsResultEntry.builder().shardId("s").sequenceNumber("9").build()
    val failed = sdk.PutRecordsResultEntry.builder().errorCode("InternalFailure").build()
    assert(
      AwsConversions.putResult(written) === PutResult.Written(ShardId("s"), SequenceNumber("9"))
    )
    assert(AwsConversions.putResult(failed) === PutResult.Failed("InternalFailure", "no message"))
  }

  test("an explicit hash key is sent, and the bytes are not copied") {
    val bytes = Array[Byte](5)
    val sent = AwsConversions.requestEntry(PutEntry("k", bytes, Some(HashKey.Max)))
    assert(sent.explicitHashKey === HashKey.Max.toString)
    assert(sent.data.asByteArrayUnsafe eq bytes)
    assert(AwsConversions.requestEntry(PutEntry("k", bytes, None)).explicitHashKey === null)
  }
}
