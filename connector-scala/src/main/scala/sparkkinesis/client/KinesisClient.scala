package sparkkinesis.client

import java.time.Instant

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.model._

/**
 * Kinesis as this connector sees it: one method a service call, in model types, blocking.
 *
 * Nothing clever happens behind it: no retry, no iterator renewal, no waiting. Those are above it,
 * where the simulator reaches. Each method may throw any [[KinesisException]]; an interrupted thread
 * gets `InterruptedException`. Safe for use by many threads.
 */
trait KinesisClient extends AutoCloseable {

  /** `DescribeStreamSummary`. */
  def describeStream(stream: StreamRef): StreamSummary

  /** One page of `ListShards`. */
  def listShards(request: ListShardsRequest): ShardListing

  /** `GetShardIterator`: a token good for five minutes. */
  def shardIterator(stream: StreamRef, shard: ShardId, position: Position): ShardIterator

  /**
   * `GetRecords`.
   *
   * @param limit 1 to 10,000 records
   */
  def getRecords(stream: StreamRef, iterator: ShardIterator, limit: Int): Page

  /**
   * `PutRecords`. The results are in the order of the entries; an answer may be a partial failure.
   *
   * @param entries 1 to 500
   */
  def putRecords(stream: StreamRef, entries: Seq[PutEntry]): Seq[PutResult]
}

/** @param token opaque; never stored, never logged */
final case class ShardIterator(token: String) {
  override def toString: String = "ShardIterator(…)"
}

/**
 * What `DescribeStreamSummary` tells.
 *
 * @param created differs when a stream was deleted and made again under the same name
 * @param maxRecordBytes of one record with its partition key
 * @param distribution by the partition key where the service does not say
 */
final case class StreamSummary(
    arn: StreamArn,
    status: StreamStatus,
    created: Instant,
    retention: FiniteDuration,
    openShards: Int,
    maxRecordBytes: Int,
    distribution: RecordDistribution = RecordDistribution.UserPartitionKey
)

sealed trait StreamStatus

object StreamStatus {
  case object Creating extends StreamStatus
  case object Active extends StreamStatus
  case object Updating extends StreamStatus
  case object Deleting extends StreamStatus
}

/** The service refuses a stream or filter beside a page token, so these are two requests. */
sealed trait ListShardsRequest

object ListShardsRequest {
  final case class First(stream: StreamRef, filter: ShardFilter) extends ListShardsRequest
  final case class Next(stream: StreamRef, token: String) extends ListShardsRequest
}

/** Which shards to list. */
sealed trait ShardFilter

object ShardFilter {

  /** Open and closed ones within the retention. */
  case object FromTrimHorizon extends ShardFilter

  /** The open ones. */
  case object AtLatest extends ShardFilter
}

/**
 * @param nextToken of the following page, if there is one
 * @param serverTime the service's clock when it answered, to the second, where the answer tells
 */
final case class ShardListing(
    shards: Seq[Shard],
    nextToken: Option[String],
    serverTime: Option[Instant]
)

/**
 * One `GetRecords` answer, perhaps empty in mid-shard.
 *
 * @param next none at the end of a closed shard
 * @param millisBehindLatest how far behind the tip, by the service's own account
 * @param children only on the last page of a closed shard
 */
final case class Page(
    records: IndexedSeq[Record],
    next: Option[ShardIterator],
    millisBehindLatest: Long,
    children: Seq[ChildShard]
)

/** What became of one entry of a `PutRecords` request. */
sealed trait PutResult

object PutResult {
  final case class Written(shard: ShardId, sequenceNumber: SequenceNumber) extends PutResult

  /** @param errorCode the service's, such as `ProvisionedThroughputExceededException` */
  final case class Failed(errorCode: String, message: String) extends PutResult
}
