package sparkkinesis.source.simulation

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.shard.SourceException
import sparkkinesis.source.replay.LoggedBatch
import sparkkinesis.{Repeated, SeededHistories, TestScope}

/**
 * Replays of batches over seeded histories with reshards, restarts and failing calls. `SEED=n`
 * replays one history.
 */
class ReplaySimulation extends AnyFunSuite with SeededHistories {
  private type Rows = Map[Long, Map[String, Seq[String]]] // of each batch, by shard

  private def byShard(rows: Seq[Row]) =
    rows.groupBy(_.shard.toString).map { case (shard, all) => shard -> all.map(_.text) }

  private def some(world: World, query: SimulatedQuery): Seq[LoggedBatch] =
    query.logged.filter(_ => world.random.nextInt(3) > 0)

  /** What the query's sink got. */
  private def received(query: SimulatedQuery, batches: Seq[LoggedBatch]): Rows =
    batches
      .map(batch => batch.number -> byShard(query.committed(batch.number.toInt).rows))
      .filter(_._2.nonEmpty)
      .toMap

  private def replayed(query: SimulatedQuery, batches: Seq[LoggedBatch]): Rows =
    query.replay(batches).map { case (batch, rows) => batch -> byShard(rows) }

  test("a replay returns the rows that the query received in each batch", Repeated) {
    val rows = each(2000) { seed =>
      val history = new History(seed)
      val query = history.continuous()
      countTime(history.world.clock)
      val batches = some(history.world, query)
      val expected = received(query, batches)
      assert(replayed(query, batches) === expected)
      expected.valuesIterator.flatMap(_.valuesIterator).map(_.size).sum
    }
    info(s"${rows.size} histories, ${rows.sum} rows")
    TestScope.ofFixed(rows).foreach(it => assert(it.sum > 0))
  }

  test(
    "after moves back, a replay returns the rows of each batch, also those that came twice",
    Repeated
  ) {
    val twice = each(1000) { seed =>
      val history = new History(seed)
      val query = history.movedBack()
      countTime(history.world.clock)
      val batches = some(history.world, query)
      val expected = received(query, batches)
      assert(replayed(query, batches) === expected)
      val all = expected.valuesIterator.flatMap(_.valuesIterator.flatten).toSeq
      all.size - all.distinct.size
    }
    info(s"${twice.size} histories, ${twice.sum} rows came twice")
    TestScope.ofFixed(twice).foreach(it => assert(it.sum > 0))
  }

  test(
    "when records expire, a replay returns all rows of its batches, or reports the loss",
    Repeated
  ) {
    val losses = each(1000) { seed =>
      val history = new History(seed)
      val query = history.continuous()
      countTime(history.world.clock)
      history.world.clock.advance(history.world.random.nextInt(30).hours)
      val batches = some(history.world, query)
      try {
        assert(replayed(query, batches) === received(query, batches))
        false
      } catch { case e: SourceException if e.condition == "KINESIS_DATA_LOSS" => true }
    }
    info(s"${losses.size} histories, ${losses.count(identity)} with a loss")
    TestScope.ofFixed(losses).foreach(it => assert(it.toSet === Set(true, false)))
  }
}
