package sparkkinesis.sink.simulation.once

import scala.concurrent.ExecutionContext.global
import scala.concurrent.duration._
import scala.concurrent.{Await, Future}
import scala.util.{Failure, Try}

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.{Repeated, TestScope}

/**
 * `deliveryGuarantee=exactlyOnce` over many seeded histories: no row is lost and none is written
 * twice, with and without order. If rows may have expired before they were read, the batch fails.
 * `SEED=n` replays one history.
 */
class OnceSimulation extends AnyFunSuite {
  test("every row of a batch is in the stream once, whatever happens", Repeated) {
    val all = TestScope.seeds(1000).map { seed =>
      seed -> Future(Try {
        val history = new OnceHistory(seed)
        history.run()
        history.world
      })(global)
    }
    val ended = all.map { case (seed, future) => seed -> Await.result(future, 20.minutes) }
    val failed = ended.collect { case (seed, Failure(e)) => seed -> e }
    failed.headOption.foreach { case (seed, e) =>
      val others = failed.tail.take(20).map(_._1).mkString(" ")
      fail(
        s"${failed.size} histories failed: replay with SEED=$seed (${e.getMessage}); others " +
          s"$others",
        e
      )
    }
    val worlds = ended.map(_._2.get)
    val disordered = worlds.count(_.disorderedKeys > 0)
    info(s"${ended.size} histories; rows of a key were out of order in $disordered of them")
    TestScope.ofFixed(worlds).foreach { mix =>
      val features = mix.flatMap(_.features).groupMapReduce(identity)(_ => 1)(_ + _)
      info(s"of the fixed seeds: $features")
      assert(features.size === 14)
    }
  }
}
