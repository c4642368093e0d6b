package sparkkinesis.client

import java.time.Instant

import scala.annotation.nowarn
import scala.concurrent.duration.FiniteDuration

import sparkkinesis.model._

/**
 * The calls to Kinesis that the connector makes. One blocking method per service call.
 *
 * An implementation does not retry, renew iterators or wait: the callers do, so that simulations
 * cover it. Each method may throw any [[KinesisException]], and `InterruptedException` in an
 * interrupted thread. Thread-safe.
 */
private[sparkkinesis] trait KinesisClient extends AutoCloseable {

  /** Whether the endpoint of the calls is one of AWS, so that its quotas are known. */
  def isAws: Boolean = false

  /** `DescribeStreamSummary`. */
  def describeStream(stream: StreamRef): StreamSummary

  /** Returns one page of `ListShards`. */
  def listShards(request: ListShardsRequest): ShardListing

  /** `GetShardIterator`: a token that is valid for five minutes. */
  def shardIterator(stream: StreamRef, shard: ShardId, position: Position): ShardIterator

  /**
   * `GetRecords`.
   *
   * @param limit 1 to 10,000 records
   */
  def getRecords(stream: StreamRef, iterator: ShardIterator, limit: Int): Page

  /**
   * `PutRecords`. The results are in the order of the entries. Some entries may fail.
   *
   * @param entries 1 to 500 records
   */
  def putRecords(stream: StreamRef, entries: Seq[PutEntry]): Seq[PutResult]

  /**
   * `PutRecords` with a limit of its own for the time.
   *
   * @param timeout limit for the request and its whole response. A client that always answers at
   *   once needs none
   * @param mayLeave asked just before the first byte of the request
   * @throws KinesisException.Withheld if the request may not leave: it had no effect
   */
  @nowarn("cat=unused-params")
  def putRecords(
      stream: StreamRef,
      entries: Seq[PutEntry],
      timeout: FiniteDuration,
      mayLeave: () => Boolean = () => true
  ): Seq[PutResult] = {
    KinesisClient.checkMayLeave(mayLeave)
    putRecords(stream, entries)
  }

  /** The calls of enhanced fan-out. */
  def fanOut: FanOutClient = FanOutClient.None
}

private[sparkkinesis] object KinesisClient {
  private[client] def checkMayLeave(mayLeave: () => Boolean): Unit =
    if (!mayLeave())
      throw new KinesisException.Withheld(
        "The request was not sent: before its first byte, the right to send had ended, or its " +
          "credentials had taken too long."
      )
}

/**
 * @param token opaque, never stored or logged. For an event of enhanced fan-out, the sequence
 *   number after which a new subscription continues
 */
private[sparkkinesis] final case class ShardIterator(token: String) {
  override def toString: String = "ShardIterator(…)"
}

/**
 * The result of `DescribeStreamSummary`.
 *
 * @param created creation time; it differs if the stream was deleted and created again.
 *   [[StreamSummary.UnknownCreation]] if the response does not contain it
 * @param maxRecordBytes limit of the size of a record with its partition key
 * @param distribution `None` if the response neither contains nor implies it
 * @param serverTime time of the response by the service's clock, in whole seconds, if it contains
 *   it
 */
private[sparkkinesis] final case class StreamSummary(
    arn: StreamArn,
    status: StreamStatus,
    created: Instant,
    retention: FiniteDuration,
    openShards: Int,
    maxRecordBytes: Int,
    distribution: Option[RecordDistribution] = Some(RecordDistribution.UserPartitionKey),
    serverTime: Option[Instant] = None
)

private[sparkkinesis] object StreamSummary {

  /** Stands for a creation time that is not known, also in checkpoints. */
  val UnknownCreation: Instant = Instant.EPOCH
}

private[sparkkinesis] sealed trait StreamStatus

private[sparkkinesis] object StreamStatus {
  case object Creating extends StreamStatus
  case object Active extends StreamStatus
  case object Updating extends StreamStatus
  case object Deleting extends StreamStatus
}

/**
 * A request of `ListShards` has a stream and a filter or else a page token, because the service
 * refuses both together.
 */
private[sparkkinesis] sealed trait ListShardsRequest

private[sparkkinesis] object ListShardsRequest {
  final case class First(stream: StreamRef, filter: ShardFilter) extends ListShardsRequest
  final case class Next(stream: StreamRef, token: String) extends ListShardsRequest
}

/** Selects the shards to list. */
private[sparkkinesis] sealed trait ShardFilter

private[sparkkinesis] object ShardFilter {

  /** Open shards, and closed shards within the retention period. */
  case object FromTrimHorizon extends ShardFilter

  /** Open shards. */
  case object AtLatest extends ShardFilter
}

/**
 * A page of `ListShards`, or all of them.
 *
 * @param nextToken token of the next page, if any
 * @param serverTime time of the response by the service's clock, in whole seconds, if it contains
 *   it
 */
private[sparkkinesis] final case class ShardListing(
    shards: Seq[Shard],
    nextToken: Option[String],
    serverTime: Option[Instant]
)

/**
 * A `GetRecords` response. It may be empty in the middle of a shard.
 *
 * @param next `None` at the end of a closed shard
 * @param millisBehindLatest time between this page and the tip of the shard; `None` if the response
 *   does not contain it, and then it is unknown whether this is the tip
 * @param children only in the last page of a closed shard
 * @param serverTime time of the response by the service's clock, in whole seconds, if it contains
 *   it
 * @param isFallback whether a library has decoded the response, because our decoder could not
 */
private[sparkkinesis] final case class Page(
    records: IndexedSeq[Record],
    next: Option[ShardIterator],
    millisBehindLatest: Option[Long],
    children: Seq[ChildShard],
    serverTime: Option[Instant] = None,
    isFallback: Boolean = false
) {

  /** Whether the service says that there are no later records. */
  def isAtTip: Boolean = millisBehindLatest.contains(0L)
}

private[sparkkinesis] object Page {
  def apply(
      records: IndexedSeq[Record],
      next: Option[ShardIterator],
      millisBehindLatest: Long,
      children: Seq[ChildShard]
  ): Page = Page(records, next, Some(millisBehindLatest), children)
}

/** The result of one entry of a `PutRecords` request. */
private[sparkkinesis] sealed trait PutResult

private[sparkkinesis] object PutResult {
  final case class Written(shard: ShardId, sequenceNumber: SequenceNumber) extends PutResult

  /** The results of a request of which every record was written, without an object per record. */
  trait AllWritten extends IndexedSeq[PutResult] {

    /** Whether the records from index `from` until `until` are in the shard. */
    def areIn(shard: ShardId, from: Int, until: Int): Boolean
  }

  /** The results of a request that a library has encoded or decoded, because our code could not. */
  final class Fallback(results: IndexedSeq[PutResult]) extends IndexedSeq[PutResult] {
    override def apply(i: Int): PutResult = results(i)
    override def length: Int = results.length
  }

  /** @param errorCode code of the service, such as `ProvisionedThroughputExceededException` */
  final case class Failed(errorCode: String, message: String) extends PutResult
}
