package sparkkinesis.source.simulation

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.model.{ArrivalTimes, Position}
import sparkkinesis.{Repeated, SeededHistories, TestScope}

/**
 * The promises of the source over many seeded histories: no loss, no duplicate across committed
 * batches, order per key, no batch with a child and its parent, no shard too far ahead of another,
 * no row late for a watermark. `SEED=n` replays one history of each kind.
 */
class DeliverySimulation extends AnyFunSuite with SeededHistories {

  private def checked(history: History, query: SimulatedQuery): Promises = {
    val promises = new Promises(history.world, query.committed)
    promises.noChildBesideParent()
    promises.noneTwice()
    // Without it, shards that a long stop has hidden may join late, with old records.
    if (history.world.failOnDataLoss) history.world.skew.foreach { skew =>
      promises.together(skew)
      promises.noneLate(delay = skew * 2)
    }
    promises
  }

  test("a query that runs continuously reads each record once", Repeated) {
    val rows = each(5000) { seed =>
      val history = new History(seed)
      val promises = checked(history, history.continuous())
      countTime(history.world.clock)
      promises.allOf(history.world.written)
      promises.rows
    }
    info(s"${rows.size} histories, ${rows.sum} rows")
    TestScope.ofFixed(rows).foreach(it => assert(it.sum > 0))
  }

  test(
    "with Trigger.AvailableNow each run omits no record that had arrived when it started",
    Repeated
  ) {
    val rows = each(2000) { seed =>
      val history = new History(seed)
      val query = history.availableNow { (query, stopAtMillis) =>
        val latest = ArrivalTimes.lastDoubt(stopAtMillis)
        checked(history, query).between(
          query.writtenBy(stopAtMillis),
          query.writtenBy(latest),
          query.writtenBy(Long.MaxValue)
        )
      }
      countTime(history.world.clock)
      query.committed.map(_.rows.size).sum
    }
    info(s"${rows.size} histories, ${rows.sum} rows")
    TestScope.ofFixed(rows).foreach(it => assert(it.sum > 0))
  }

  test(
    "after a stop beyond the retention the query reads all records, or reports the loss",
    Repeated
  ) {
    val outcomes = each(2000) { seed =>
      val history = new History(seed)
      val stopped = history.stopped()
      countTime(history.world.clock)
      val promises = checked(history, stopped.query)
      val written = history.world.written
      if (stopped.loss.isEmpty)
        if (history.world.start == Position.Latest) promises.allOf(written)
        else promises.withoutGaps(written)
      else require(stopped.stop > ShortestLoss, s"false alarm after ${stopped.stop}")
      stopped.loss.nonEmpty
    }
    info(s"${outcomes.size} histories, ${outcomes.count(identity)} with a loss")
    TestScope.ofFixed(outcomes).foreach(it => assert(it.toSet === Set(true, false)))
  }

  test("a query whose records expire as fast as it reads them reports the loss", Repeated) {
    val losses = each(1000) { seed =>
      val history = new History(seed)
      val isPolled = history.world.consumers.isEmpty
      if (isPolled) {
        val (query, loss) = history.overtaken()
        countTime(history.world.clock)
        checked(history, query)
        require(loss.nonEmpty, s"it reads empty pages for ever: $query")
      }
      isPolled
    }
    info(s"${losses.size} histories, ${losses.count(identity)} with polling")
    TestScope.ofFixed(losses).foreach(it => assert(it.contains(true)))
  }

  test(
    "after such a stop with failOnDataLoss=false the query reads all records that are left",
    Repeated
  ) {
    val adopted = each(1000) { seed =>
      val history = new History(seed, failOnDataLoss = false)
      val stopped = history.stopped()
      countTime(history.world.clock)
      require(stopped.loss.isEmpty, "a loss although failOnDataLoss is false")
      val horizon = history.world.clock.now.minusMillis(Retention.toMillis).toEpochMilli
      checked(history, stopped.query).atLeast(history.world.writtenAfter(horizon))
      stopped.query.lostRanges > 0
    }
    info(
      s"${adopted.size} histories, ${adopted.count(identity)} with shards that no batch would read"
    )
    TestScope.ofFixed(adopted).foreach(it => assert(it.toSet === Set(true, false)))
  }

  private val Retention = 24.hours

  /**
   * An idle query confirms four times in a retention of 24 hours, and a history runs for a while.
   */
  private val ShortestLoss = 12.hours
}
