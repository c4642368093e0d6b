package sparkkinesis.sink.simulation

import scala.concurrent.ExecutionContext.global
import scala.concurrent.duration._
import scala.concurrent.{Await, Future}
import scala.util.{Failure, Try}

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.{Repeated, TestScope}

/**
 * The promises of the sink over many seeded histories: no record is lost, duplicates appear only
 * where they cannot be avoided, order per key is kept, memory is bounded, no row waits needlessly,
 * and metrics agree with what the service saw. `SEED=n` replays one history.
 */
class SinkSimulation extends AnyFunSuite {

  /** On all cores, because histories share nothing. */
  private def each[A](count: Int)(run: Long => A): Seq[A] = {
    val all = TestScope.seeds(count).map(seed => seed -> Future(Try(run(seed)))(global))
    val ended = all.map { case (seed, future) => seed -> Await.result(future, 20.minutes) }
    val failed = ended.collect { case (seed, Failure(e)) => seed -> e }
    failed.headOption.foreach { case (seed, e) =>
      val others = failed.tail.take(20).map(_._1).mkString(" ")
      fail(
        s"${failed.size} histories failed: replay with SEED=$seed (${e.getMessage}); " +
          s"others are $others",
        e
      )
    }
    ended.map(_._2.get)
  }

  test("the sink keeps its promises, whatever happens", Repeated) {
    val outcomes = each(5000) { seed =>
      val outcome = new SinkHistory(seed).run()
      outcome.check()
      (outcome.rows, outcome.judged, outcome.features)
    }
    val features = outcomes.flatMap(_._3).groupMapReduce(identity)(_ => 1)(_ + _)
    val (rows, judged) = (outcomes.map(_._1).sum, outcomes.map(_._2).sum)
    info(s"${outcomes.size} histories, $rows rows, $judged in calm; $features")
    if (outcomes.size > 1) {
      assert(features.size === 6 && features.values.forall(_ > outcomes.size / 50))
      assert(judged > rows / 500, "rows that nothing held back")
    }
  }

  test("a seed always gives the same history") {
    each(40)(seed =>
      assert(new SinkHistory(seed).run().trace === new SinkHistory(seed).run().trace)
    )
  }
}
