package sparkkinesis.sink.simulation.once

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.{Repeated, SeededHistories, TestScope}

/**
 * `deliveryGuarantee=exactlyOnce` over many seeded histories: no row is lost and none is written
 * twice, with and without order. If rows may have expired before they were read, the batch fails.
 * `SEED=n` replays one history.
 */
class OnceSimulation extends AnyFunSuite with SeededHistories {
  test("every row of a batch is in the stream once, whatever happens", Repeated) {
    val worlds = each(1000) { seed =>
      val history = new OnceHistory(seed)
      history.run()
      countTime(history.world.agenda.clock)
      history.world
    }
    val disordered = worlds.count(_.disorderedKeys > 0)
    info(s"${worlds.size} histories; rows of a key were out of order in $disordered of them")
    TestScope.ofFixed(worlds).foreach { mix =>
      val features = mix.flatMap(_.features).groupMapReduce(identity)(_ => 1)(_ + _)
      info(s"of the fixed seeds: $features")
      assert(features.size === 14)
    }
  }
}
