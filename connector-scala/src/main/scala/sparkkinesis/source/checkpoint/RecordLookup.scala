package sparkkinesis.source.checkpoint

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.client.{Clock, KinesisException, Retry}
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{SequenceNumber, Shard, StreamArn, StreamShard}
import sparkkinesis.shard.feed.ShardRangeReader
import sparkkinesis.shard.{DataLossException, ReadSettings, ShardRange, StreamClient}
import sparkkinesis.source.position.PositionCheck

/** Finds the record whose sequence number a position names, as a range of one record. */
private[sparkkinesis] final class RecordLookup(
    stream: StreamClient,
    arn: StreamArn,
    check: PositionCheck,
    clock: Clock
) {

  /**
   * When the record arrived; `None` if the shard does not contain it, or no longer.
   *
   * @throws SourceException if the number cannot belong to this shard
   */
  def arrival(shard: Shard, number: SequenceNumber): Option[Instant] = {
    def refuse(reason: String) = throw check.foreignNumber(shard.id, number, reason).atStart
    PositionCheck.reasonAgainst(shard, number).foreach(refuse)
    val range =
      ShardRange(StreamShard(arn, shard.id), Progress.From(number), Progress.After(number))
    try Retry.atStart(clock)(look(range))
    catch {
      case _: DataLossException => None
      case e: KinesisException.InvalidArgument => refuse(e.getMessage)
    }
  }

  private def look(range: ShardRange): Option[Instant] = {
    val reader = new ShardRangeReader(stream, RecordLookup.Settings, clock, () => false)
    var answers = 0
    try {
      val arrivals = reader
        .pages(range)
        .flatMap { case (_, records) =>
          answers += 1
          if (answers > RecordLookup.MostAnswers) throw unanswered(range)
          records.lastArrivalMillis
        }
        .toVector
      arrivals.headOption.map(Instant.ofEpochMilli)
    } finally reader.close()
  }

  private def unanswered(range: ShardRange) = new KinesisException.ServiceFailure(
    s"Looking for the first record of $range of stream ${stream.ref}, Kinesis sent " +
      s"${RecordLookup.MostAnswers} answers without a record, and did not say that there is none."
  )
}

private object RecordLookup {

  /** Kinesis returns some empty pages before a record, but not this many. */
  private val MostAnswers = 200

  /** The reader repeats no call that failed, so that a query that cannot start fails soon. */
  private val Settings = ReadSettings(maxRecords = 1, retryTimeout = Some(Duration.Zero))
}
