package sparkkinesis.model

import scala.concurrent.duration._

/**
 * The limits of Kinesis Data Streams, each with its source.
 *
 * [[https://docs.aws.amazon.com/streams/latest/dev/service-sizes-and-limits.html Quotas]] and the
 * API reference.
 */
private[sparkkinesis] object ServiceLimits {

  /** Records in one `PutRecords` request (API reference of PutRecords). */
  val PutRecordsCount = 500

  /** Bytes of one `PutRecords` request, partition keys included (API reference of PutRecords). */
  val PutRecordsBytes: Int = 10 * 1024 * 1024

  /** Default limit of one record, partition key included. A stream may allow up to 10 MiB. */
  val RecordBytes: Int = 1024 * 1024

  /** Records per second that a shard accepts (quotas). */
  val WriteRecordsPerSecond: Long = 1000

  /** Bytes per second that a shard accepts, partition keys included (quotas). */
  val WriteBytesPerSecond: Long = 1024L * 1024

  /** Unicode characters of a partition key (API reference of PutRecord). */
  val PartitionKeyCharacters = 256

  /** Records of one `GetRecords` response (API reference of GetRecords). */
  val GetRecordsCount = 10000

  /** Bytes of one `GetRecords` response (API reference of GetRecords). */
  val GetRecordsBytes: Int = 10 * 1024 * 1024

  /** The period of five `GetRecords` calls per second and shard (quotas). */
  val GetRecordsPeriod: FiniteDuration = 200.millis

  /** Bytes per second that all polling consumers of a shard share (quotas). */
  val ReadBytesPerSecond: Long = 2L * 1024 * 1024

  /** An unused shard iterator expires after this time (API reference of GetShardIterator). */
  val IteratorLifetime: FiniteDuration = 5.minutes

  /** Shards of one `ListShards` response (API reference of ListShards). */
  val ListShardsCount = 1000

  /** The retention period of a new stream, which is also the shortest possible (quotas). */
  val DefaultRetention: FiniteDuration = 24.hours
}
