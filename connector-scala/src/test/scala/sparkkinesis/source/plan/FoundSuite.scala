package sparkkinesis.source.plan

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.Generators._
import sparkkinesis.model.offset.Progress
import sparkkinesis.source.protocol.{Frontier, Mark}

class FoundSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val frontiers = for {
    isFresh <- Gen.oneOf(true, false)
    behind <- Gen.oneOf(0L, 1000L, 1001L)
  } yield {
    val mark = Mark(Progress.Finished, 0, 0, 0)
    Frontier(if (isFresh) Vector(mark) else Vector.empty, Nil, behind, 0)
  }

  test("what was found is the same, whether it is counted with each report or at the end") {
    val reports = Gen.listOf(Gen.zip(Gen.choose(0, 5).map(shardOf), frontiers))
    forAll(reports) { all =>
      val counted = all.foldLeft(Found.of(Map.empty)) { case (found, (shard, frontier)) =>
        found.updated(shard, frontier)
      }
      assert(counted === Found.of(all.toMap))
    }
  }
}
