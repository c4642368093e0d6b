package sparkkinesis.source.replay

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.client.{Page, ShardIterator}
import sparkkinesis.model._
import sparkkinesis.model.offset.Progress
import sparkkinesis.shard.feed.ShardRangeReader
import sparkkinesis.shard.pace.SharedReads
import sparkkinesis.shard.{BatchEnd, ReadSettings, ShardRange, StreamClient}
import sparkkinesis.sink.FastClock
import sparkkinesis.source.ReadOnlyKinesis
import sparkkinesis.source.ScriptedKinesis.{Throttled, recordsOf}

class TaskPagesSuite extends AnyFunSuite {
  private val Records = 60

  private def settings(minPeriod: FiniteDuration) = ReadSettings(3, minPeriod, 1.second)

  /** Any number of shards with the same records. */
  private final class SameShards(refused: Set[ShardId] = Set.empty) extends ReadOnlyKinesis {
    private val records = recordsOf(1 to Records)
    private var refusals = 20
    var calls = 0

    override def shardIterator(s: StreamRef, shard: ShardId, p: Position): ShardIterator =
      ShardIterator(s"${shard.name} 0")

    override def getRecords(s: StreamRef, iterator: ShardIterator, limit: Int): Page = {
      calls += 1
      val (shard, place) = iterator.token.span(_ != ' ')
      val first = place.trim.toInt
      if (refused(ShardId(shard)) && refusals > 0) {
        refusals -= 1
        throw Throttled
      }
      val page = records.slice(first, first + limit)
      Page(page, Some(ShardIterator(s"$shard ${first + page.size}")), 0, Nil)
    }
  }

  /** The shard and the number of each record, and the time that it took. */
  private def read(
      shards: Int,
      isAws: Boolean,
      minPeriod: FiniteDuration,
      kinesis: SameShards = new SameShards
  ): (Vector[(StreamShard, Int)], FiniteDuration) = {
    val clock = new FastClock
    val client = StreamClient(stream, kinesis, new SharedReads(isAws))
    val upTo = Progress.After(SequenceNumber(Records.toString))
    val ranges = (0 until shards).map { index =>
      ShardRange(shardOf(index), Progress.TrimHorizon, upTo)
    }
    val pages = new TaskPages(
      ranges,
      None,
      _ => new ShardRangeReader(client, settings(minPeriod), clock, () => false)
    )
    val all = Iterator.continually(pages.next()).takeWhile(_.nonEmpty).flatten.toVector
    val rows = all.flatMap { page =>
      page.records.map(record => page.shard -> record.sequenceNumber.text.toInt)
    }
    (rows, clock.elapsedMillis.millis)
  }

  test("many shards take no longer than one, and each is read in order") {
    for ((isAws, minPeriod) <- Seq(true -> 0.millis, false -> 200.millis)) {
      val (_, ofOne) = read(1, isAws, minPeriod)
      val (rows, ofMany) = read(64, isAws, minPeriod)
      assert(ofOne > 2.seconds && ofMany === ofOne)
      assert(rows.groupBy(_._1).size === 64)
      assert(rows.groupBy(_._1).values.forall(_.map(_._2) === (1 to Records)))
    }
  }

  test("a shard that is refused delays no other shard") {
    val kinesis = new SameShards(refused = Set(shardOf(0).shard))
    val (rows, _) = read(3, isAws = false, 200.millis, kinesis)
    val (first, later) = rows.splitAt(2 * Records)
    assert(first.forall(_._1 != shardOf(0)))
    assert(later === (1 to Records).map(shardOf(0) -> _))
  }

  test("a range that can be read at once is read to its end first, one page at a time") {
    val kinesis = new SameShards
    val (rows, _) = read(2, isAws = false, 0.millis, kinesis)
    assert(rows.map(_._1) === Seq.fill(Records)(shardOf(0)) ++ Seq.fill(Records)(shardOf(1)))
    assert(kinesis.calls === 2 * Records / 3)
  }

  test("the parts of a page follow each other in a replay, while other shards can be read") {
    val ranges = Seq(0, 1).map { index =>
      val ends = (1 to 6).map(n => BatchEnd(n.toLong, Progress.After(SequenceNumber(s"$n"))))
      ShardRange(shardOf(index), Progress.TrimHorizon, ends.last.upTo, batches = ends.toVector)
    }
    val client = StreamClient(stream, new SameShards, new SharedReads(false))
    val pages = new TaskPages(
      ranges,
      None,
      _ => new ShardRangeReader(client, settings(200.millis), new FastClock, () => false)
    )
    val parts = Iterator.continually(pages.next()).takeWhile(_.nonEmpty).flatten.toVector
    val found = parts.filter(_.records.nonEmpty).map(it => it.shard -> it.batch)
    assert(found.grouped(3).forall(_.map(_._1).distinct.size == 1), "a page has three records")
    assert(found.take(6).map(_._1).distinct.size === 2, "the second shard is read meanwhile")
    assert(found.groupBy(_._1).values.forall(_.map(_._2) === (1L to 6L)))
  }
}
