package sparkkinesis.source.plan

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

class BatchCostSuite extends AnyFunSuite {

  private def batch(cost: BatchCost, begin: FiniteDuration, gap: FiniteDuration): Unit = {
    cost.found(begin)
    cost.planned(begin + gap)
  }

  test("nothing is known before the first batch") {
    val cost = new BatchCost
    assert(cost.nextAt.isEmpty)
    cost.found(1.second)
    assert(cost.nextAt.isEmpty, "its tasks are not planned yet")
  }

  test("the time between batches is forty times the time from a batch's end to its tasks") {
    val cost = new BatchCost
    batch(cost, 1.second, 50.millis)
    assert(cost.nextAt.contains(1.second + 2.seconds))
    batch(cost, 9.seconds, 70.millis)
    assert(cost.nextAt.contains(9.seconds + 2.seconds), "the smallest counts")
  }

  test("a slow checkpoint store delays a batch by ten seconds at most") {
    val cost = new BatchCost
    batch(cost, 1.second, 3.seconds)
    assert(cost.nextAt.contains(11.seconds))
  }

  test("an old batch says nothing about later ones") {
    val cost = new BatchCost
    batch(cost, Duration.Zero, 10.millis)
    (1 to 8).foreach(number => batch(cost, number.seconds, 100.millis))
    assert(cost.nextAt.contains(8.seconds + 4.seconds))
  }

  test("planning again after a restart of the batch counts once") {
    val cost = new BatchCost
    batch(cost, 1.second, 50.millis)
    cost.planned(60.seconds)
    assert(cost.nextAt.contains(3.seconds))
  }
}
