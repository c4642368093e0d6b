package sparkkinesis.client.aws

import java.time.format.DateTimeFormatter.RFC_1123_DATE_TIME
import java.time.{Instant, ZonedDateTime}

import scala.collection.immutable.ArraySeq
import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.jdk.OptionConverters._
import scala.util.Try

import software.amazon.awssdk.core.{SdkBytes, SdkResponse}
import software.amazon.awssdk.http.SdkHttpResponse
import software.amazon.awssdk.services.kinesis.{model => sdk}

import sparkkinesis.client._
import sparkkinesis.model._

/** Conversions between the SDK's types and ours. They refuse a response that violates the API. */
private[aws] object AwsConversions {
  private val NoBytes = Array.emptyByteArray

  /** @param strategy the record distribution strategy, which the SDK does not read */
  def summary(
      it: sdk.StreamDescriptionSummary,
      strategy: Option[String]
  ): StreamSummary = StreamSummary(
    arn = StreamArn.parse(it.streamARN).getOrElse(refuse("stream ARN", it.streamARN)),
    status = status(it.streamStatus),
    created = Option(it.streamCreationTimestamp).getOrElse(StreamSummary.UnknownCreation),
    retention =
      Option(it.retentionPeriodHours).fold(ServiceLimits.DefaultRetention)(_.intValue.hours),
    openShards = Option(it.openShardCount).fold(0)(_.intValue),
    maxRecordBytes =
      Option(it.maxRecordSizeInKiB).fold(ServiceLimits.RecordBytes)(_.intValue * 1024),
    distribution = strategy.map(distribution).orElse(impliedBy(it))
  )

  /** Only on-demand streams can have another strategy, and a response without one. */
  private def impliedBy(it: sdk.StreamDescriptionSummary): Option[RecordDistribution] =
    Option(it.streamModeDetails)
      .filter(_.streamMode == sdk.StreamMode.PROVISIONED)
      .map(_ => RecordDistribution.UserPartitionKey)

  /** An unknown strategy counts as `Auto`, which makes no assumption about keys. */
  private def distribution(strategy: String): RecordDistribution =
    if (strategy == RecordDistribution.UserPartitionKey.name) RecordDistribution.UserPartitionKey
    else RecordDistribution.Auto

  private def status(it: sdk.StreamStatus): StreamStatus = it match {
    case sdk.StreamStatus.CREATING => StreamStatus.Creating
    case sdk.StreamStatus.ACTIVE => StreamStatus.Active
    case sdk.StreamStatus.DELETING => StreamStatus.Deleting
    // UPDATING, and any status that AWS may add: the stream exists.
    case _ => StreamStatus.Updating
  }

  def shardFilter(filter: ShardFilter): sdk.ShardFilter = {
    val kind = filter match {
      case ShardFilter.FromTrimHorizon => sdk.ShardFilterType.FROM_TRIM_HORIZON
      case ShardFilter.AtLatest => sdk.ShardFilterType.AT_LATEST
    }
    sdk.ShardFilter.builder().`type`(kind).build()
  }

  def listing(it: sdk.ListShardsResponse): ShardListing =
    ShardListing(it.shards.asScala.map(shard).toVector, Option(it.nextToken), serverTime(it))

  /** The time of a response by the service's clock. */
  def serverTime(response: SdkResponse): Option[Instant] =
    Option(response.sdkHttpResponse).flatMap(serverTime)

  def serverTime(response: SdkHttpResponse): Option[Instant] =
    response
      .firstMatchingHeader("Date")
      .toScala
      .flatMap(text => Try(ZonedDateTime.parse(text, RFC_1123_DATE_TIME).toInstant).toOption)

  def shard(it: sdk.Shard): Shard = Shard(
    ShardId(it.shardId),
    Seq(it.parentShardId, it.adjacentParentShardId).flatMap(Option(_)).map(ShardId(_)),
    hashKeys(it.hashKeyRange),
    SequenceNumber(it.sequenceNumberRange.startingSequenceNumber),
    Option(it.sequenceNumberRange.endingSequenceNumber).map(SequenceNumber(_))
  )

  private def hashKeys(it: sdk.HashKeyRange): HashKeyRange =
    HashKeyRange(hashKey(it.startingHashKey), hashKey(it.endingHashKey))

  private def hashKey(text: String): HashKey =
    HashKey.parse(text).getOrElse(refuse("hash key", text))

  def startAt(request: sdk.GetShardIteratorRequest.Builder, position: Position): Unit = {
    import sdk.ShardIteratorType._
    position match {
      case Position.TrimHorizon => request.shardIteratorType(TRIM_HORIZON)
      case Position.Latest => request.shardIteratorType(LATEST)
      case Position.AtTimestamp(instant) =>
        request.shardIteratorType(AT_TIMESTAMP).timestamp(instant)
      case Position.AtSequenceNumber(number) =>
        request.shardIteratorType(AT_SEQUENCE_NUMBER).startingSequenceNumber(number.text)
      case Position.AfterSequenceNumber(number) =>
        request.shardIteratorType(AFTER_SEQUENCE_NUMBER).startingSequenceNumber(number.text)
    }
    ()
  }

  /** Where a subscription begins: the same types as those of an iterator. */
  def startingPosition(position: Position): sdk.StartingPosition = {
    val iterator = sdk.GetShardIteratorRequest.builder()
    startAt(iterator, position)
    val like = iterator.build()
    sdk.StartingPosition
      .builder()
      .`type`(like.shardIteratorType)
      .sequenceNumber(like.startingSequenceNumber)
      .timestamp(like.timestamp)
      .build()
  }

  def consumer(arn: String, status: sdk.ConsumerStatus, created: Instant): ConsumerSummary =
    ConsumerSummary(
      ConsumerArn.parse(arn).getOrElse(refuse("consumer ARN", arn)),
      status match {
        case sdk.ConsumerStatus.CREATING => ConsumerStatus.Creating
        case sdk.ConsumerStatus.DELETING => ConsumerStatus.Deleting
        case _ => ConsumerStatus.Active
      },
      Option(created).getOrElse(Instant.EPOCH)
    )

  def page(it: sdk.GetRecordsResponse): Page = Page(
    records(it.records),
    Option(it.nextShardIterator).map(ShardIterator(_)),
    Option(it.millisBehindLatest).map(_.longValue),
    children(it.hasChildShards, it.childShards)
  )

  private def children(has: Boolean, all: java.util.List[sdk.ChildShard]): Seq[ChildShard] =
    if (has) all.asScala.map(childShard).toVector else Nil

  /** Runs for every record: one pass into an array, without a copy of data and texts. */
  private def records(it: java.util.List[sdk.Record]): IndexedSeq[Record] = {
    val records = new Array[Record](it.size)
    var i = 0
    while (i < records.length) {
      records(i) = record(it.get(i))
      i += 1
    }
    ArraySeq.unsafeWrapArray(records)
  }

  def record(it: sdk.Record): Record = Record(
    SequenceNumber(it.sequenceNumber),
    Option(it.partitionKey),
    if (it.data == null) NoBytes else it.data.asByteArrayUnsafe,
    if (it.approximateArrivalTimestamp == null) 0L else it.approximateArrivalTimestamp.toEpochMilli,
    encryptionType(it.encryptionTypeAsString)
  )

  private def encryptionType(text: String): Option[String] = text match {
    case "NONE" => Record.NotEncrypted
    case "KMS" => Record.EncryptedByKms
    case other => Option(other)
  }

  private def childShard(it: sdk.ChildShard): ChildShard =
    ChildShard(
      ShardId(it.shardId),
      it.parentShards.asScala.map(ShardId(_)).toVector,
      hashKeys(it.hashKeyRange)
    )

  def requestEntry(entry: PutEntry): sdk.PutRecordsRequestEntry = {
    val it = sdk.PutRecordsRequestEntry
      .builder()
      .partitionKey(entry.partitionKey)
      .data(SdkBytes.fromByteArrayUnsafe(entry.data))
    entry.explicitHashKey.foreach(key => it.explicitHashKey(key.toString))
    it.build()
  }

  def putResult(it: sdk.PutRecordsResultEntry): PutResult =
    if (it.errorCode != null)
      PutResult.Failed(it.errorCode, Option(it.errorMessage).getOrElse("no message"))
    else PutResult.Written(ShardId(it.shardId), SequenceNumber(it.sequenceNumber))

  private def refuse(what: String, text: String): Nothing =
    throw new IllegalArgumentException(s"The service returned '$text' as a $what.")
}
