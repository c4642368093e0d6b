package sparkkinesis.source.protocol

import java.time.Instant

import sparkkinesis.client.{ErrorCondition, KinesisException}
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{ChildShard, SequenceNumber, StreamShard}
import sparkkinesis.shard.Durations

/**
 * The result of one `GetRecords` call, for the driver.
 *
 * @param generation of the assignment; the driver ignores reports for older ones
 * @param from where the first mark begins, so that the driver recognizes a repeated report
 * @param marks empty if the page was empty
 * @param children of the shard, if its last mark is `Finished`
 * @param completeAsOfMillis `completeAsOf` of the shard after the last mark; 0 if unknown
 * @param lost number of times since the last report that records were missing and the query
 *   continued
 * @param first the first record, if nothing was read of the shard before
 * @param early number of records since the last report that Kinesis returned although they are
 *   before the position that it was asked for
 */
private[sparkkinesis] final case class FetchReport(
    shard: StreamShard,
    generation: Long,
    from: Progress,
    marks: Vector[Mark],
    children: Seq[ChildShard],
    millisBehindLatest: Long,
    completeAsOfMillis: Long,
    lost: Int = 0,
    first: Option[SequenceNumber] = None,
    early: Int = 0
)

/**
 * Tells an executor to read a shard ahead.
 *
 * @param from where to begin
 * @param completeAsOf of the shard at `from`; see [[sparkkinesis.model.offset.ShardProgress]]
 * @param isClosed whether the shard is listed as closed
 */
private[sparkkinesis] final case class Assignment(
    shard: StreamShard,
    generation: Long,
    from: Progress,
    completeAsOf: Option[Instant] = None,
    isClosed: Boolean = false
)

/**
 * A permanent failure: retries do not help.
 *
 * @param condition a stable name, such as `KINESIS_ACCESS_DENIED`
 * @param message names the stream and shard, and ends with what to do
 * @param generation of the assignment that failed; a later assignment may succeed
 */
private[sparkkinesis] final case class FetchFailure(
    condition: String,
    message: String,
    shard: StreamShard,
    generation: Long
)

private[sparkkinesis] object FetchFailure {

  def of(cause: KinesisException, shard: StreamShard, generation: Long): FetchFailure = {
    val diagnosis = ErrorCondition.of(cause)
    val what = s"Reading $shard failed: ${cause.getMessage}"
    FetchFailure(diagnosis.condition, diagnosis.explain(what), shard, generation)
  }
}

/**
 * Counters of a fetch service since it began.
 *
 * @param bufferedBytes current size of the pages in memory
 * @param rereadRanges number of ranges that tasks did not find in the store
 * @param spilledBytes current size of the pages on disk
 * @param fullStores 1 while pages wait in Kinesis because the executor's store has no room, else 0
 * @param memoryBytes current limit of the pages in memory
 * @param subscriptions calls of `SubscribeToShard`
 * @param renewals subscriptions that followed another one which had served its time
 * @param subscriptionsInUse answers that another reader uses the consumer
 * @param pushedBytes bytes of data that subscriptions have sent
 * @param requests number of `GetRecords` requests
 * @param times how long they took
 * @param early number of records that Kinesis returned although they are before the position that
 *   it was asked for
 * @param fallbacks responses and events that a library decoded, because our decoder could not
 */
private[sparkkinesis] final case class FetchCounters(
    records: Long,
    bytes: Long,
    bufferedBytes: Long,
    throttled: Long,
    retried: Long,
    iteratorsExpired: Long,
    rereadRanges: Long = 0,
    lostRanges: Long = 0,
    spilledBytes: Long = 0,
    fullStores: Long = 0,
    memoryBytes: Long = 0,
    subscriptions: Long = 0,
    renewals: Long = 0,
    subscriptionsInUse: Long = 0,
    pushedBytes: Long = 0,
    requests: Long = 0,
    times: Durations = Durations.Zero,
    early: Long = 0,
    fallbacks: Long = 0
) {
  def +(that: FetchCounters): FetchCounters = plus(that, 1)

  def -(that: FetchCounters): FetchCounters = plus(that, -1)

  private def plus(that: FetchCounters, sign: Int): FetchCounters = FetchCounters(
    records + sign * that.records,
    bytes + sign * that.bytes,
    bufferedBytes + sign * that.bufferedBytes,
    throttled + sign * that.throttled,
    retried + sign * that.retried,
    iteratorsExpired + sign * that.iteratorsExpired,
    rereadRanges + sign * that.rereadRanges,
    lostRanges + sign * that.lostRanges,
    spilledBytes + sign * that.spilledBytes,
    fullStores + sign * that.fullStores,
    memoryBytes + sign * that.memoryBytes,
    subscriptions + sign * that.subscriptions,
    renewals + sign * that.renewals,
    subscriptionsInUse + sign * that.subscriptionsInUse,
    pushedBytes + sign * that.pushedBytes,
    requests + sign * that.requests,
    if (sign > 0) times + that.times else times - that.times,
    early + sign * that.early,
    fallbacks + sign * that.fallbacks
  )

  /** The counters with the current sizes of other counters. */
  def withState(that: FetchCounters): FetchCounters = copy(
    bufferedBytes = that.bufferedBytes,
    spilledBytes = that.spilledBytes,
    fullStores = that.fullStores,
    memoryBytes = that.memoryBytes
  )

  /** Whether any counter is smaller than before. Within one service none ever is. */
  def isBehind(before: FetchCounters): Boolean = {
    def counts(all: FetchCounters) = all.withState(FetchCounters.Zero).productIterator
    counts(this).zip(counts(before)).exists {
      case (count: Long, last: Long) => count < last
      case _ => false
    }
  }
}

private[sparkkinesis] object FetchCounters {
  val Zero: FetchCounters = FetchCounters(0, 0, 0, 0, 0, 0)

  /** The sum of the current sizes. */
  def state(all: Iterator[FetchCounters]): FetchCounters =
    all.map(Zero.withState(_)).foldLeft(Zero)(_ + _)
}

/**
 * What an executor reads and keeps.
 *
 * @param assignments all shards of the executor
 * @param processed the executor may drop each shard's pages up to here, and all pages of shards
 *   that are neither here nor in `assignments`
 * @param shards number of shards that the query reads, on all executors
 */
private[sparkkinesis] final case class FetchPlan(
    assignments: Vector[Assignment],
    processed: Map[StreamShard, Progress],
    shards: Int = 1
)
