package sparkkinesis.spark.read

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.client.{ListShardsRequest, ShardListing, StreamSummary}
import sparkkinesis.model._
import sparkkinesis.model.offset.{Progress, ShardProgress, SourceOffset, StreamOffset}
import sparkkinesis.sink.FastClock
import sparkkinesis.source.ScriptedKinesis.{listing, summary}
import sparkkinesis.source.checkpoint.{QueryStream, QueryStreams}
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.source.position.ByShard
import sparkkinesis.source.protocol.{Frontier, Mark, ReadLimits}
import sparkkinesis.source.watch.{StreamWatch, WatchService}
import sparkkinesis.source.{ReadOnlyKinesis, StreamClient}

/** The end of a batch of a stream with two shards. The test says what executors have read ahead. */
class BatchEndFinderSuite extends AnyFunSuite {
  private val stopTime = 1000L
  private val shards = newStream(2)
  private val refunds = arn.copy(name = StreamName("refunds"))
  private val whole = offsetOf(shards)
  private val half = offsetOf(shards.take(1))

  private def offsetOf(shards: Seq[Shard]) = {
    val unread = ShardProgress(Progress.TrimHorizon, Set.empty)
    only(StreamOffset(arn, Instant.EPOCH, SortedMap.from(shards.map(_.id -> unread))))
  }

  /** Each shard has a record for each arrival time, and was read up to its tip. */
  private def read(arrivals: Long*): Map[StreamShard, Frontier] = {
    val marks = arrivals.zipWithIndex.map { case (arrival, index) =>
      Mark(after(record(index + 1L, 1)), 1, 1, arrival)
    }
    shards.indices.map(shardOf(_) -> Frontier(marks.toVector, Nil, 0, 0)).toMap
  }

  /** Number of the last record of each shard that the batch contains; 0 if there is none. */
  private def lastRead(end: SourceOffset): Seq[Int] = shards.indices.map { index =>
    end.progress(shardOf(index)) match {
      case Progress.After(number) => number.text.toInt
      case _ => 0
    }
  }

  private object Kinesis extends ReadOnlyKinesis {
    override def describeStream(stream: StreamRef): StreamSummary = summary()
    override def listShards(request: ListShardsRequest): ShardListing = listing(shards: _*)
  }

  /** @param start where the next batch starts */
  private final class Query(
      start: SourceOffset,
      hasStopTime: Boolean = false,
      skew: Option[FiniteDuration] = None
  ) extends BatchEndFinder.Ahead {
    var pages: Map[StreamShard, Frontier] = read()
    var found = Option.empty[SourceOffset]
    private val named = Map("streamArn" -> s"$arn", "allowStreamRemoval" -> "true")
    private val options = SourceOptions.parse(named, None)
    private val position = ByShard[Position](Position.TrimHorizon)
    private val streams = new QueryStreams(
      options,
      options.streams.map(new QueryStream(_, Kinesis, position, new FastClock, () => 0.5))
    )
    private val client = StreamClient(stream, Kinesis)
    private val watch = new StreamWatch(client, failOnDataLoss = false, 10.seconds, () => 0.5)
    private val service = new WatchService(Map(arn -> watch), new FastClock)
    private val finder = new BatchEndFinder(this, streams, service, skew, hasStopTime, _ => ())
    private var now = Instant.EPOCH
    streams.check(start)
    watch.advance(start.streams(arn))

    def nextEnd(from: SourceOffset = start): SourceOffset = finder.of(from, ReadLimits.None)

    def inspect(): Unit = {
      now = now.plusSeconds(10)
      watch.inspect(now): Unit
    }

    override def frontiers: Map[StreamShard, Frontier] = pages
    override def frontiers(limits: ReadLimits): Map[StreamShard, Frontier] = pages
    override def awaitNews(): Unit = inspect()
    override def foundEnd(end: SourceOffset): Unit = found = Some(end)
  }

  test("a shard that the query would never read is in the end of the next batch") {
    val query = new Query(half)
    (1 to 2).foreach(_ => query.inspect())
    assert(query.nextEnd() === whole && query.found.contains(whole))
  }

  test("with a stop time, a run that has read everything waits until its shards are settled") {
    val query = new Query(half, hasStopTime = true)
    assert(query.nextEnd() === whole)
    assert(query.nextEnd(whole) === whole, "now it ends")
  }

  test("with a stop time and the smallest skew, a run takes all that was read, and ends") {
    val query = new Query(whole, hasStopTime = true, skew = Some(1.second))
    // Executors read up to records that arrived a second after the stop time.
    query.pages = read(stopTime + 500).transform((_, it) => it.copy(completeAsOfMillis = 2000))
    assert(lastRead(query.nextEnd()) === Seq(1, 1))
  }

  test("a stream that the query no longer names is not in the end of the next batch") {
    val other = StreamOffset(refunds, Instant.EPOCH, whole.streams(arn).shards)
    val query = new Query(SourceOffset(whole.streams + (refunds -> other)))
    assert(query.nextEnd().streams.keySet === Set(arn))
  }

  test("a query without a next batch finds one as soon as an executor reports records") {
    val query = new Query(whole)
    (1 to 2).foreach(_ => assert(query.nextEnd() eq whole))
    query.pages = read(1)
    assert(lastRead(query.nextEnd()) === Seq(1, 1))
  }
}
