package sparkkinesis.source.plan

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

class FullStoreWarningSuite extends AnyFunSuite {
  test("a store that was full until the next batch is reported with the options, once in a while") {
    val ceiling = new FullStoreWarning("orders")
    def period(begin: FiniteDuration, length: FiniteDuration, fullStores: Long): Option[String] = {
      ceiling.planned(begin)
      ceiling.asked(begin + length, fullStores)
    }
    assert(period(0.seconds, 10.seconds, fullStores = 0).isEmpty, "there was room")
    assert(period(10.seconds, 4.seconds, fullStores = 2).isEmpty, "a short batch")
    val warning = period(20.seconds, 60.seconds, fullStores = 2)
    assert(warning.exists(_.contains("2 executors have no room to read orders further ahead")))
    assert(warning.exists(_.contains("'fetchSpillSize' or 'fetchBufferSize'")))
    assert(period(2.minutes, 60.seconds, fullStores = 2).isEmpty, "it was reported")
    assert(period(20.minutes, 60.seconds, fullStores = 1).nonEmpty)
  }

  test("only the first call after a batch counts: an idle query is not limited by its stores") {
    val ceiling = new FullStoreWarning("orders")
    assert(ceiling.asked(1.minute, fullStores = 1).isEmpty)
    ceiling.planned(2.minutes)
    assert(ceiling.asked(2.minutes + 1.second, fullStores = 1).isEmpty)
    assert(ceiling.asked(3.minutes, fullStores = 1).isEmpty)
  }
}
