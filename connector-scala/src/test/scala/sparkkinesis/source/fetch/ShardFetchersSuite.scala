package sparkkinesis.source.fetch

import scala.collection.mutable
import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{PackedRecords, SequenceNumber, StreamShard}
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.protocol.{Assignment, FetchPlan, ReadLimits, ShardRange}
import sparkkinesis.source.store.PageStore
import sparkkinesis.source.store.{BufferedPage, Stores}
import sparkkinesis.source.{ScriptedKinesis, StreamClient}

class ShardFetchersSuite extends AnyFunSuite {
  private val settings = FetchSettings(
    100,
    200.millis,
    1.second,
    Some(1000),
    0,
    ReadLimits.None,
    failOnDataLoss = true,
    stopAtMillis = None
  )

  private class Reading {
    val store: PageStore = Stores.inMemory(1000)
    val begun: mutable.Buffer[Assignment] = mutable.Buffer.empty[Assignment]
    val fetchers = new ShardFetchers(
      store,
      { assignment =>
        begun += assignment
        val kinesis = new ScriptedKinesis()
        new ShardFetcher(
          StreamClient(stream, kinesis),
          assignment,
          store,
          settings,
          () => 1,
          () => 0.5
        )
      }
    )

    def apply(done: Map[StreamShard, Progress], assignments: Assignment*): Seq[ShardFetcher] =
      fetchers(FetchPlan(assignments.toVector, done))

    /** Pages of one record each. */
    def hold(shard: Int, numbers: Range): Unit = numbers.foreach { number =>
      val from = if (number == 1) Progress.TrimHorizon else upTo(number - 1)
      store.add(
        shardOf(shard),
        BufferedPage(from, PackedRecords(Vector(record(number.toLong, 1))), upTo(number))
      )
    }

    def holds(shard: Int, from: Int, last: Int): Boolean =
      store.parts(ShardRange(shardOf(shard), upTo(from), upTo(last))).nonEmpty
  }

  private def upTo(number: Int): Progress = Progress.After(SequenceNumber(number.toString))

  private def assigned(shard: Int, generation: Long, from: Progress = Progress.TrimHorizon) =
    Assignment(shardOf(shard), generation, from)

  test("an assigned shard starts once, and a shard that is no longer assigned ends") {
    val reading = new Reading
    val first = reading(Map.empty, assigned(1, 1), assigned(0, 2))
    assert(first.map(_.shard) === Seq(shardOf(1), shardOf(0)))
    assert(reading.fetchers.all.map(_.shard) === Seq(shardOf(0), shardOf(1)))
    val second = reading(Map.empty, assigned(1, 1), assigned(2, 3))
    assert(second.map(_.shard) === Seq(shardOf(2)) && reading.begun.size === 3)
    assert(reading.fetchers.all.map(_.shard) === Seq(shardOf(1), shardOf(2)))
    assert(reading.fetchers.size === 2)
    assert(first.map(reading.fetchers.isCurrent) === Seq(true, false))
  }

  test("a shard that is assigned again has a new fetcher, and the old one is no longer current") {
    val reading = new Reading
    val old = reading(Map.empty, assigned(0, 1)).head
    val fresh = reading(Map.empty, assigned(0, 2)).head
    assert(!reading.fetchers.isCurrent(old) && reading.fetchers.isCurrent(fresh))
    assert(fresh.generation === 2 && reading.fetchers.all === Seq(fresh))
  }

  test("pages after an assignment's start are dropped, because they are fetched again") {
    val reading = new Reading
    reading.hold(0, 1 to 5)
    reading(Map.empty, assigned(0, 1, upTo(3)))
    assert(reading.holds(0, 1, 3) && !reading.holds(0, 1, 4))
  }

  test(
    "pages of finished batches and of shards that the plan does not name are dropped"
  ) {
    val reading = new Reading
    (0 to 2).foreach(reading.hold(_, 1 to 5))
    reading(Map(shardOf(0) -> upTo(2), shardOf(1) -> upTo(4)), assigned(0, 1, upTo(5)))
    assert(reading.holds(0, 2, 5) && !reading.holds(0, 1, 5))
    assert(reading.holds(1, 4, 5) && !reading.holds(1, 3, 5), "its last batch may still run")
    assert(reading.store.shards === Set(shardOf(0), shardOf(1)))
  }

  test("after clear no fetcher is current") {
    val reading = new Reading
    val only = reading(Map.empty, assigned(0, 1)).head
    reading.fetchers.clear()
    assert(!reading.fetchers.isCurrent(only) && reading.fetchers.size === 0)
  }
}
