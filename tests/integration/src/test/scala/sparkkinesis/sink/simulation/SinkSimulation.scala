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

  /** Some of what histories have is rare. */
  private val Fixed = (1L to 100L).toVector

  /** On all cores, because histories share nothing. */
  private def each[A](count: Int)(run: Long => A): Seq[A] = {
    val all = TestScope.seeds(count, Fixed).map(seed => seed -> Future(Try(run(seed)))(global))
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
    info(s"${outcomes.size} histories, ${outcomes.map(_._1).sum} rows")
    TestScope.ofFixed(outcomes, Fixed).foreach { mix =>
      val features = mix.flatMap(_._3).groupMapReduce(identity)(_ => 1)(_ + _)
      val (rows, judged) = (mix.map(_._1).sum, mix.map(_._2).sum)
      info(s"of the fixed seeds: $rows rows, $judged in calm; $features")
      assert(features.size === 6)
      assert(judged > rows / 1000, "rows that nothing held back")
    }
  }

  test("a seed always gives the same history") {
    (1L to 10L).foreach(seed =>
      assert(new SinkHistory(seed).run().trace === new SinkHistory(seed).run().trace)
    )
  }
}
