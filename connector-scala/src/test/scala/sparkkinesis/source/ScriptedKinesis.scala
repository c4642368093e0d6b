package sparkkinesis.source

import java.time.Instant

import scala.collection.mutable
import scala.concurrent.duration._

import sparkkinesis.Generators
import sparkkinesis.client._
import sparkkinesis.model._

/** A read-only Kinesis. Its subclasses define the calls that they need. */
abstract class ReadOnlyKinesis extends KinesisClient {
  override def describeStream(stream: StreamRef): StreamSummary = untold
  override def listShards(request: ListShardsRequest): ShardListing = untold
  override def shardIterator(s: StreamRef, shard: ShardId, p: Position): ShardIterator = untold
  override def getRecords(stream: StreamRef, iterator: ShardIterator, limit: Int): Page = untold
  override def putRecords(s: StreamRef, e: Seq[PutEntry]): Seq[PutResult] = untold
  override def close(): Unit = ()

  private def untold: Nothing = throw new UnsupportedOperationException
}

/** Answers each call with the next response of its script, and stores the request. */
final class ScriptedKinesis extends ReadOnlyKinesis {
  private val pages = mutable.Queue.empty[() => Page]
  private val listings = mutable.Queue.empty[() => ShardListing]
  private val summaries = mutable.Queue.empty[() => StreamSummary]

  /** The positions of the iterators taken. */
  val positions: mutable.Buffer[Position] = mutable.Buffer.empty

  /** The iterator and limit of each `getRecords` call. */
  val asked: mutable.Buffer[(ShardIterator, Int)] = mutable.Buffer.empty
  val listed: mutable.Buffer[ListShardsRequest] = mutable.Buffer.empty

  def page(answer: => Page): this.type = { pages.enqueue(() => answer); this }
  def listing(answer: => ShardListing): this.type = { listings.enqueue(() => answer); this }
  def summary(answer: => StreamSummary): this.type = { summaries.enqueue(() => answer); this }

  override def describeStream(stream: StreamRef): StreamSummary = summaries.dequeue()()

  override def listShards(request: ListShardsRequest): ShardListing = {
    listed += request
    listings.dequeue()()
  }

  override def shardIterator(s: StreamRef, shard: ShardId, position: Position): ShardIterator = {
    positions += position
    ShardIterator(s"taken-${positions.size}")
  }

  override def getRecords(stream: StreamRef, iterator: ShardIterator, limit: Int): Page = {
    asked += iterator -> limit
    pages.dequeue()()
  }
}

object ScriptedKinesis {
  val Behind = 1000L
  val Throttled = new KinesisException.Throttled("Rate exceeded")
  val Expired = new KinesisException.IteratorExpired("Iterator expired")
  val Gone = new KinesisException.NotFound("Shard not found")

  /** A page in mid-shard. */
  def page(numbers: Range, behind: Long = Behind): Page =
    Page(recordsOf(numbers), Some(ShardIterator("next")), behind, Nil)

  /** The last page of a closed shard. */
  def end(numbers: Range, children: ChildShard*): Page =
    Page(recordsOf(numbers), None, 0, children)

  def recordsOf(numbers: Range): IndexedSeq[Record] =
    numbers.map(number => Generators.record(number.toLong, 10))

  def listing(shards: Shard*): ShardListing = ShardListing(shards, None, None)

  /** When the stream of `summary` was created. */
  val Created: Instant = Instant.ofEpochSecond(1)

  def summary(
      created: Instant = Created,
      stream: StreamArn = Generators.arn,
      retention: FiniteDuration = 24.hours
  ): StreamSummary = StreamSummary(stream, StreamStatus.Active, created, retention, 1, 1 << 20)
}

/**
 * One shard with its records. For any number of threads.
 *
 * @param trimmed number of oldest records that are trimmed
 * @param isClosed whether the shard has an end
 */
final class OneShard(
    records: Vector[Record],
    trimmed: Int = 0,
    isClosed: Boolean = false
) extends ReadOnlyKinesis {

  /** A stream whose records arrived in 1970 and are retained. */
  override def describeStream(stream: StreamRef): StreamSummary =
    ScriptedKinesis.summary(retention = 100000.days)

  override def shardIterator(s: StreamRef, shard: ShardId, position: Position): ShardIterator = {
    val first = position match {
      case Position.AtSequenceNumber(number) => records.indexWhere(_.sequenceNumber >= number)
      case Position.AfterSequenceNumber(number) => records.indexWhere(_.sequenceNumber > number)
      case Position.AtTimestamp(at) => records.indexWhere(_.arrivalMillis >= at.toEpochMilli)
      case _ => 0
    }
    ShardIterator((if (first < 0) records.size else math.max(first, trimmed)).toString)
  }

  override def getRecords(stream: StreamRef, iterator: ShardIterator, limit: Int): Page = {
    val begin = iterator.token.toInt
    val end = math.min(begin + limit, records.size)
    val isLast = isClosed && end == records.size
    val next = if (isLast) None else Some(ShardIterator(end.toString))
    val child = ChildShard(Generators.shardId(9), Seq(Generators.shardId(0)), HashKeyRange.All)
    Page(
      records.slice(begin, end),
      next,
      (records.size - end).toLong,
      if (isLast) Seq(child) else Nil
    )
  }
}
