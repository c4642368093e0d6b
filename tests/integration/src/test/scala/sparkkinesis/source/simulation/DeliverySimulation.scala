package sparkkinesis.source.simulation

import scala.concurrent.ExecutionContext.global
import scala.concurrent.duration._
import scala.concurrent.{Await, Future}
import scala.util.control.NonFatal

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.source.position.StartingPosition
import sparkkinesis.{Repeated, TestScope}

/**
 * The promises of the source over many seeded histories: no loss, no duplicate across committed
 * batches, order per key, no child beside its parent. `SEED=n` replays one of each kind.
 */
class DeliverySimulation extends AnyFunSuite {

  /** On all cores: histories share nothing. */
  private def each[A](count: Int)(check: Long => A): Seq[A] = {
    val all = TestScope.seeds(count).map(seed => Future(replayable(seed)(check))(global))
    all.map(Await.result(_, 20.minutes))
  }

  private def replayable[A](seed: Long)(check: Long => A): A =
    try check(seed)
    catch {
      case NonFatal(e) => fail(s"history failed: replay with SEED=$seed (${e.getMessage})", e)
    }

  private def kept(history: History, query: SimulatedQuery): Promises = {
    val promises = new Promises(history.world, query.committed)
    promises.noChildBesideParent()
    promises.noneTwice()
    promises
  }

  test("a query that reads on and on", Repeated) {
    val rows = each(5000) { seed =>
      val history = new History(seed)
      val promises = kept(history, history.continuous())
      promises.allOf(history.world.written)
      promises.rows
    }
    info(s"${rows.size} histories, ${rows.sum} rows")
    assert(rows.sum > 0)
  }

  test(
    "runs with Trigger.AvailableNow: each ends, with exactly what had arrived when it began",
    Repeated
  ) {
    val rows = each(2000) { seed =>
      val history = new History(seed)
      val query = history.availableNow { (query, stopAtMillis) =>
        kept(history, query).allOf(query.writtenBy(stopAtMillis))
      }
      query.committed.map(_.rows.size).sum
    }
    info(s"${rows.size} histories, ${rows.sum} rows")
    assert(rows.sum > 0)
  }

  test(
    "a stop beyond the retention: all that is owed is read, or the loss is reported",
    Repeated
  ) {
    val outcomes = each(2000) { seed =>
      val history = new History(seed)
      val stopped = history.stopped()
      val promises = kept(history, stopped.query)
      val written = history.world.written
      if (stopped.loss.isEmpty)
        if (history.world.start == StartingPosition.Latest) promises.allOf(written)
        else promises.withoutGaps(written)
      else require(stopped.stop > ShortestLoss, s"false alarm after ${stopped.stop}")
      stopped.loss.nonEmpty
    }
    info(s"${outcomes.size} histories, ${outcomes.count(identity)} with a loss")
    if (outcomes.size > 1) assert(outcomes.toSet === Set(true, false))
  }

  test(
    "a stop beyond the retention, passed over: it goes on and ends, with all that is still kept",
    Repeated
  ) {
    val mended = each(1000) { seed =>
      val history = new History(seed, failOnDataLoss = false)
      val stopped = history.stopped()
      require(stopped.loss.isEmpty, "a loss although it is to be passed over")
      val horizon = history.world.clock.now.minusMillis(Retention.toMillis).toEpochMilli
      kept(history, stopped.query).atLeast(history.world.writtenAfter(horizon))
      stopped.query.lostRanges > 0
    }
    info(
      s"${mended.size} histories, ${mended.count(identity)} with shards that nobody looked after"
    )
    if (mended.size > 1) assert(mended.toSet === Set(true, false))
  }

  private val Retention = 24.hours

  /** An idle query confirms four times in a retention of 24 hours, and a history runs for a while. */
  private val ShortestLoss = 12.hours
}
