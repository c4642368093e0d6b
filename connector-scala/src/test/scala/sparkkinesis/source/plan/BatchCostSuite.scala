package sparkkinesis.source.plan

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

class BatchCostSuite extends AnyFunSuite {

  private def batch(cost: BatchCost, begin: FiniteDuration, gap: FiniteDuration): Unit = {
    cost.found(begin)
    cost.planned(begin + gap, Duration.Zero)
    cost.done(begin + gap)
  }

  private def next(cost: BatchCost, begin: FiniteDuration, gap: FiniteDuration) = {
    batch(cost, begin, gap)
    cost.nextAt(begin + gap)
  }

  test("nothing is known before the first batch") {
    val cost = new BatchCost
    assert(cost.nextAt(1.second).isEmpty)
    cost.found(1.second)
    assert(cost.nextAt(1.second).isEmpty, "its tasks are not planned yet")
  }

  test("the time between batches is forty times the time from a batch's end to its tasks") {
    val cost = new BatchCost
    assert(next(cost, 1.second, 50.millis).contains(1.second + 2.seconds))
    assert(next(cost, 9.seconds, 70.millis).contains(9.seconds + 2.seconds), "the smallest counts")
  }

  test("a slow checkpoint store delays a batch by ten seconds at most") {
    assert(next(new BatchCost, 1.second, 3.seconds).contains(11.seconds))
  }

  test("an old batch says nothing about later ones") {
    val cost = new BatchCost
    batch(cost, Duration.Zero, 10.millis)
    (1 to 7).foreach(number => batch(cost, number.seconds, 100.millis))
    assert(next(cost, 8.seconds, 100.millis).contains(8.seconds + 4.seconds))
  }

  test("the wait of another source of the query is not a cost") {
    val cost = new BatchCost
    cost.found(1.second)
    cost.planned(4.seconds, waitEnd = 3900.millis)
    cost.done(5.seconds)
    assert(cost.nextAt(5.seconds).contains(1.second + 4.seconds))
  }

  test("with an interval trigger, Spark asks later, and no batch is delayed") {
    val cost = new BatchCost
    batch(cost, 1.second, 50.millis)
    assert(cost.nextAt(1300.millis - 1.milli).nonEmpty && cost.nextAt(1300.millis).isEmpty)
  }

  test("planning again after a restart of the batch counts once") {
    val cost = new BatchCost
    batch(cost, 1.second, 50.millis)
    cost.planned(60.seconds, Duration.Zero)
    assert(cost.nextAt(1050.millis).contains(3.seconds))
  }
}
