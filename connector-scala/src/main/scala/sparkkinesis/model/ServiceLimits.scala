package sparkkinesis.model

import scala.concurrent.duration._

/**
 * The limits of Kinesis Data Streams, each with its source.
 *
 * [[https://docs.aws.amazon.com/streams/latest/dev/service-sizes-and-limits.html Quotas]] and the API reference.
 */
object ServiceLimits {

  /** Records in one `PutRecords` request (API reference of PutRecords). */
  val PutRecordsCount = 500

  /** Bytes of one `PutRecords` request, partition keys included (API reference of PutRecords). */
  val PutRecordsBytes: Int = 10 * 1024 * 1024

  /** Default bytes of one record, its partition key included; a stream may allow up to 10 MiB. */
  val RecordBytes: Int = 1024 * 1024

  /** Records a second that a shard takes (quotas). */
  val WriteRecordsPerSecond: Long = 1000

  /** Bytes a second that a shard takes, partition keys included (quotas). */
  val WriteBytesPerSecond: Long = 1024L * 1024

  /** Unicode characters of a partition key (API reference of PutRecord). */
  val PartitionKeyCharacters = 256

  /** Records of one `GetRecords` answer (API reference of GetRecords). */
  val GetRecordsCount = 10000

  /** Bytes of one `GetRecords` answer (API reference of GetRecords). */
  val GetRecordsBytes: Int = 10 * 1024 * 1024

  /** Five `GetRecords` calls a second and shard (quotas). */
  val GetRecordsPeriod: FiniteDuration = 200.millis

  /** Bytes a second that a shard gives to all its polling readers together (quotas). */
  val ReadBytesPerSecond: Long = 2L * 1024 * 1024

  /** After so long an unused shard iterator is refused (API reference of GetShardIterator). */
  val IteratorLifetime: FiniteDuration = 5.minutes

  /** Shards of one `ListShards` answer (API reference of ListShards). */
  val ListShardsCount = 1000

  /** Retention of a new stream, and the shortest there is (quotas). */
  val DefaultRetention: FiniteDuration = 24.hours
}
