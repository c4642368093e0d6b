package sparkkinesis.source.protocol

import java.time.Instant

import sparkkinesis.client.{ErrorCondition, KinesisException}
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{ChildShard, StreamShard}

/**
 * What one step of a fetcher found, for the coordinator on the driver.
 *
 * @param generation of the assignment it works for; older ones are ignored
 * @param from where the first mark begins, so that a report applied twice is seen
 * @param marks none where the page was empty
 * @param children of a shard whose last mark is `Finished`
 * @param completeAsOfMillis all that arrived before is in the marks or before them; 0 where unknown
 * @param lost how often records were found missing and passed over, since the last report
 */
final case class FetchReport(
    shard: StreamShard,
    generation: Long,
    from: Progress,
    marks: Vector[Mark],
    children: Seq[ChildShard],
    millisBehindLatest: Long,
    completeAsOfMillis: Long,
    lost: Int = 0
)

/**
 * A shard an executor is to read ahead, from where.
 *
 * @param completeAsOf all that arrived in it before has been read by then; none where nothing is owed yet
 */
final case class Assignment(
    shard: StreamShard,
    generation: Long,
    from: Progress,
    completeAsOf: Option[Instant] = None
)

/**
 * What an executor tells the driver, often.
 *
 * @param host and executor as Spark names them
 * @param failure ends the query, where the shard is still this executor's
 * @param knownVersion of the last [[FetchReply]]
 */
final case class FetchStatus(
    executor: String,
    host: String,
    reports: Vector[FetchReport],
    counters: FetchCounters,
    failure: Option[FetchFailure],
    knownVersion: Long
)

/**
 * A failure that retrying cannot mend.
 *
 * @param condition a stable name, such as `KINESIS_ACCESS_DENIED`
 * @param message what happened to which shard of which stream, and what to do
 * @param generation of the assignment that failed: who reads the shard now may have no trouble
 */
final case class FetchFailure(
    condition: String,
    message: String,
    shard: StreamShard,
    generation: Long
)

object FetchFailure {

  /** @param cause names where the call went */
  def of(cause: KinesisException, shard: StreamShard, generation: Long): FetchFailure = {
    val diagnosis = ErrorCondition.of(cause)
    val what = s"Reading $shard failed: ${cause.getMessage}"
    FetchFailure(diagnosis.condition, diagnosis.explain(what), shard, generation)
  }
}

/**
 * Since the fetch service began, but for what the buffer holds now.
 *
 * @param rereadRanges that tasks did not find in the buffer
 */
final case class FetchCounters(
    records: Long,
    bytes: Long,
    bufferedBytes: Long,
    throttled: Long,
    retried: Long,
    iteratorsExpired: Long,
    rereadRanges: Long = 0,
    lostRanges: Long = 0
) {
  def +(that: FetchCounters): FetchCounters = FetchCounters(
    records + that.records,
    bytes + that.bytes,
    bufferedBytes + that.bufferedBytes,
    throttled + that.throttled,
    retried + that.retried,
    iteratorsExpired + that.iteratorsExpired,
    rereadRanges + that.rereadRanges,
    lostRanges + that.lostRanges
  )

  /** Whether something was counted further before: a service never counts backwards. */
  def isBehind(before: FetchCounters): Boolean = {
    def counts(all: FetchCounters) = all.copy(bufferedBytes = 0).productIterator
    counts(this).zip(counts(before)).exists {
      case (count: Long, last: Long) => count < last
      case _ => false
    }
  }
}

object FetchCounters {
  val Zero: FetchCounters = FetchCounters(0, 0, 0, 0, 0, 0)
}

/**
 * What the driver answers.
 *
 * @param plan `None` where nothing changed since the executor's known version
 */
final case class FetchReply(version: Long, isStopped: Boolean, plan: Option[FetchPlan])

/**
 * @param assignments all the executor's shards
 * @param done pages up to here are no longer needed; those of shards neither here nor assigned neither
 */
final case class FetchPlan(assignments: Vector[Assignment], done: Map[StreamShard, Progress])
