package sparkkinesis.sink.simulation

import scala.concurrent.ExecutionContext.global
import scala.concurrent.duration._
import scala.concurrent.{Await, Future}
import scala.util.{Failure, Try}

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.{Repeated, TestScope}

/**
 * The promises of the sink over many seeded histories: nothing lost, duplicates only where they
 * cannot be avoided, order per key where asked for, bounded memory, no needless wait, metrics that agree with what the
 * service saw. `SEED=n` replays one.
 */
class SinkSimulation extends AnyFunSuite {

  /** On all cores: histories share nothing. */
  private def each[A](count: Int)(live: Long => A): Seq[A] = {
    val all = TestScope.seeds(count).map(seed => seed -> Future(Try(live(seed)))(global))
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

  test("whatever happens, the promises are kept", Repeated) {
    val outcomes = each(5000) { seed =>
      val outcome = new SinkHistory(seed).live()
      outcome.check()
      (outcome.rows, outcome.judged, outcome.features)
    }
    val features = outcomes.flatMap(_._3).groupMapReduce(identity)(_ => 1)(_ + _)
    val (rows, judged) = (outcomes.map(_._1).sum, outcomes.map(_._2).sum)
    info(s"${outcomes.size} histories, $rows rows, $judged in calm; of them were $features")
    if (outcomes.size > 1) {
      assert(features.size === 5 && features.values.forall(_ > outcomes.size / 50))
      assert(judged > rows / 100, "rows that nothing held back")
    }
  }

  test("a seed is one history") {
    each(40)(seed =>
      assert(new SinkHistory(seed).live().trace === new SinkHistory(seed).live().trace)
    )
  }
}
