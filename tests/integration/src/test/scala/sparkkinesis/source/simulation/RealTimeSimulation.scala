package sparkkinesis.source.simulation

import scala.concurrent.ExecutionContext.global
import scala.concurrent.duration._
import scala.concurrent.{Await, Future}
import scala.util.control.NonFatal

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.{Repeated, TestScope}

/**
 * The promises of the source in real-time mode over many seeded histories. Batches end after any row, tasks
 * start late, fail, and are lost with their executors. `SEED=n` replays one history.
 */
class RealTimeSimulation extends AnyFunSuite {

  test("a query in real-time mode hands out each record once, except after a failure", Repeated) {
    val queries = TestScope.seeds(1000).map(seed => Future(checked(seed))(global))
    val all = queries.map(Await.result(_, 20.minutes))
    info(
      s"${all.size} histories, ${all.map(_.committed.size).sum} batches, " +
        s"${all.map(_.committed.map(_.rows.size).sum).sum} rows, ${all.map(_.failed).sum} failures"
    )
    assert(all.exists(_.committed.exists(_.rows.nonEmpty)))
  }

  private def checked(seed: Long): LiveQuery =
    try {
      val history = new LiveHistory(seed)
      val query = history.run()
      val promises = new Promises(history.world, query.committed)
      promises.noChildBesideParent()
      promises.noneTwice()
      promises.allOf(history.world.written)
      query
    } catch {
      case NonFatal(e) => fail(s"history failed: replay with SEED=$seed (${e.getMessage})", e)
    }
}
