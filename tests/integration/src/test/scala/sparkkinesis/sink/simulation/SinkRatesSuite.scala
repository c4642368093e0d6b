package sparkkinesis.sink.simulation

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.sink.{AggregateLimits, SinkOptions}

/** Writers use the quotas of shards with few throttled records, in virtual time. */
class SinkRatesSuite extends AnyFunSuite {
  private val plain = SinkOptions(maxBufferedBytes = 4L * 1024 * 1024)
  private val aggregated = plain.copy(aggregation = Some(AggregateLimits()))

  private def report(rates: SinkRates, shards: Int): Unit =
    info(
      f"use of each shard ${(0 until shards).map(it => f"${rates.use(it)}%.3f").mkString(" ")}, " +
        f"throttled ${rates.throttledShare}%.4f"
    )

  Seq(
    ("plain", plain, 100),
    ("plain, of bytes", plain, 20000),
    ("ordered", plain.copy(isOrdered = true), 100),
    ("aggregated", aggregated, 200),
    ("aggregated and ordered", aggregated.copy(isOrdered = true), 200)
  ).foreach { case (name, options, size) =>
    Seq(1, 8).foreach { shards =>
      test(
        s"$name, $shards shards, even keys: the quota is used, hardly a record is throttled"
      ) {
        val rates = new SinkRates(shards, executors = 1)
        rates.task(0, options, size, Seq.fill(shards)(1))
        rates.run()
        report(rates, shards)
        (0 until shards).foreach(it => assert(rates.use(it) >= 0.98))
        assert(rates.throttledShare < 0.01)
      }
    }
  }

  test("aggregated rows of 50 bytes: at least 10,000 per second into one shard") {
    val rates = new SinkRates(1, executors = 1)
    rates.task(0, aggregated, 50, Seq(1))
    rates.run()
    report(rates, 1)
    info(f"${rates.rowsPerSecond(0)}%.0f rows per second")
    assert(rates.rowsPerSecond(0) >= 10000)
    assert(rates.use(0) >= 0.9)
    assert(rates.throttledShare < 0.01)
  }

  test("two executors share a shard: neither has half as much again, few records are throttled") {
    (1L to 4L).foreach { seed =>
      val rates = new SinkRates(1, executors = 2, end = 130.seconds, seed = seed)
      (0 to 1).foreach(rates.task(_, plain, 100, Seq(1)))
      rates.run()
      report(rates, 1)
      val shares = (0 to 1).map(executor => rates.use(0, _ == executor))
      info(f"executors ${shares.map(it => f"$it%.3f").mkString(" ")}")
      assert(shares.max < 1.5 * shares.min)
      assert(rates.use(0) >= 0.98)
      assert(rates.throttledShare < 0.01)
    }
  }

  test("a hot key does not hold back the other lanes while memory has room") {
    val rates = new SinkRates(4, executors = 1)
    // 1,500 rows per second for the first shard, 980 for each other. So 500 per second are
    // buffered: 30,000 rows of 57 bytes, with 128 more for each, in the end.
    val options = plain.copy(maxBufferedBytes = 8L * 1024 * 1024)
    rates.task(0, options, 50, Seq(75, 49, 49, 49), pause = 50)
    rates.run()
    report(rates, 4)
    assert(rates.use(0) >= 0.98)
    (1 to 3).foreach(it => assert(rates.use(it) >= 0.98 * 0.98))
    assert(rates.throttledShare < 0.01)
  }
}
