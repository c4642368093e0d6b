package sparkkinesis.source.simulation.realtime

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.source.simulation.Promises
import sparkkinesis.{Repeated, SeededHistories, TestScope}

/**
 * The promises of the source in real-time mode over many seeded histories. Batches end after any
 * row, tasks start late, fail, and are lost with their executors. `SEED=n` replays one history.
 */
class RealTimeSimulation extends AnyFunSuite with SeededHistories {

  test("a query in real-time mode hands out each record once, except after a failure", Repeated) {
    val all = each(1000)(checked)
    info(
      s"${all.size} histories, ${all.map(_.committed.size).sum} batches, " +
        s"${all.map(_.committed.map(_.rows.size).sum).sum} rows, ${all.map(_.failed).sum} failures"
    )
    TestScope.ofFixed(all).foreach { it =>
      assert(it.exists(_.committed.exists(_.rows.nonEmpty)))
    }
  }

  private def checked(seed: Long): LiveQuery = {
    val history = new LiveHistory(seed)
    val query = history.run()
    countTime(history.world.clock)
    val promises = new Promises(history.world, query.committed)
    promises.noChildBesideParent()
    promises.noneTwice()
    promises.allOf(history.world.written)
    query
  }
}
