package sparkkinesis.sink.simulation

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.{Repeated, SeededHistories, TestScope}

/**
 * The promises of the sink over many seeded histories: no record is lost, duplicates appear only
 * where they cannot be avoided, order per key is kept, memory is bounded, no row waits needlessly,
 * and metrics agree with what the service saw. `SEED=n` replays one history.
 */
class SinkSimulation extends AnyFunSuite with SeededHistories {

  /** Some of what histories have is rare. */
  private val Fixed = (1L to 100L).toVector

  test("the sink keeps its promises, whatever happens", Repeated) {
    val outcomes = each(5000, Fixed) { seed =>
      val history = new SinkHistory(seed)
      val outcome = history.run()
      countTime(history.world.agenda.clock)
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
