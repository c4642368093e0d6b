package sparkkinesis.source.fetch

import java.time.Instant

import scala.collection.mutable
import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.Progress
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.protocol.{Assignment, ReadLimits}
import sparkkinesis.source.store.{PageStore, Stores}
import sparkkinesis.source.{ScriptedKinesis, StreamClient}

class WaitingFetchersSuite extends AnyFunSuite {
  private val settings =
    FetchSettings(100, 1.milli, 1.second, Some(100), 0, ReadLimits.None, true, None)

  private class Waiting(first: Option[StreamShard] = None) {
    private val store: PageStore = Stores.inMemory(100)
    private val woken = mutable.Buffer.empty[StreamShard]
    val fetchers = new WaitingFetchers(store, () => first, woken += _.shard)

    private def fetcher(shard: Int) = new ShardFetcher(
      StreamClient(stream, new ScriptedKinesis),
      Assignment(shardOf(shard), 1, Progress.TrimHorizon),
      store,
      settings,
      () => 9,
      () => 0.5
    )

    /** The store refuses the shard's page. */
    def waits(shard: Int, wakes: Long = fetchers.wakes): Unit = {
      store.reserve(shardOf(99), 90, 9, Instant.EPOCH)
      assert(!store.reserve(shardOf(shard), 90, 9, Instant.EPOCH))
      fetchers.add(fetcher(shard), wakes)
    }

    def wokenBy(event: WaitingFetchers => Unit): Set[Int] = {
      woken.clear()
      event(fetchers)
      (0 to 9).filter(shard => woken.contains(shardOf(shard))).toSet
    }
  }

  test("after a page arrived two continue, after a plan all, and each only once") {
    val waiting = new Waiting()
    (0 to 5).foreach(waiting.waits(_))
    val first = waiting.wokenBy(_.wakeNext())
    assert(first.size === 2)
    assert(waiting.wokenBy(_.wakeAll()) === (0 to 5).toSet -- first)
    assert(waiting.fetchers.isEmpty && waiting.wokenBy(_.wakeAll()).isEmpty)
  }

  test("the shard for which the others wait continues, too") {
    val waiting = new Waiting(Some(shardOf(5)))
    (0 to 5).foreach(waiting.waits(_))
    val woken = waiting.wokenBy(_.wakeNext())
    assert(woken(5) && woken.size <= 3)
  }

  test("a fetcher does not wait if there may have been room since it asked") {
    val waiting = new Waiting()
    val before = waiting.fetchers.wakes
    waiting.fetchers.wakeAll()
    assert(waiting.wokenBy(_ => waiting.waits(0, before)) === Set(0))
    assert(waiting.fetchers.isEmpty)
  }
}
