package sparkkinesis.sink.simulation

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.simulator.state.WriteQuota
import sparkkinesis.sink.SinkOptions
import sparkkinesis.{Repeated, TestScope}

/**
 * A writer that is alone uses a shard however the service counts, whatever the size of the records
 * and however many executors are counted. Prints the table of ADR 20.
 */
class QuotaModelsSuite extends AnyFunSuite {
  import QuotaModelsSuite._

  private val options = SinkOptions(maxBufferedBytes = 8L * 1024 * 1024)

  WriteQuota.all.foreach { quota =>
    test(
      s"${quota.name}: at least nine tenths are used, and at most a twentieth is refused",
      Repeated
    ) {
      val reached = for (size <- Sizes) yield {
        val runs = Counts.map(run(quota, size, _))
        val use = runs.map(_.use(0) / allowed(quota, size))
        val refused = runs.map(_.throttledShare)
        info(f"$size%6d bytes: used ${use.min}%.2f to ${use.max}%.2f, refused ${refused.max}%.3f")
        (use.min, refused.max)
      }
      reached.foreach { case (use, refused) =>
        assert(use >= 0.9)
        assert(refused <= 0.05)
      }
    }
  }

  Seq(51200 -> 24, 200000 -> 8, 600000 -> 2).foreach { case (size, counted) =>
    test(s"one of $counted executors writes records of $size bytes: nine tenths are used") {
      val rates = run(WriteQuota.Bucket, size, counted)
      info(f"used ${rates.use(0)}%.2f, refused ${rates.throttledShare}%.3f")
      assert(rates.use(0) >= 0.9)
      assert(rates.throttledShare <= 0.05)
    }
  }

  test("30,000 rows into two shards that count by the clock take little longer than 15 s") {
    val times = (1L to 10L).map { seed =>
      val rates = new SinkRates(2, executors = 1, End, seed = seed, isByClock = true)
      rates.task(0, options, 100, Seq(1, 1), most = 30000)
      rates.run()
      rates.duration
    }
    info(times.mkString("milliseconds: ", ", ", ""))
    times.foreach(it => assert(it <= 15800))
  }

  private def run(quota: WriteQuota, size: Int, counted: Int): SinkRates = {
    val rates = new SinkRates(1, executors = 1, End, quota, Some(counted))
    rates.task(0, options, size, Seq(1))
    rates.run()
    rates
  }
}

private object QuotaModelsSuite {
  val Sizes: Seq[Int] = Seq(100, 1024, 10240, 51200)
  val Counts: Seq[Int] = if (TestScope.isQuick) Seq(1, 24) else Seq(1, 2, 8, 24)
  val End: FiniteDuration = 60.seconds

  /** What the service allows a writer of such records after the first ten seconds. */
  def allowed(quota: WriteQuota, size: Int): Double = quota match {
    case WriteQuota.Shared => 0.5
    case WriteQuota.Steps => (10 * 0.25 + 20 * 0.5 + 20) / 50
    case WriteQuota.Window | WriteQuota.CountingWindow | WriteQuota.Rolling => whole(size)
    case WriteQuota.Bucket | WriteQuota.Smooth => 1
  }

  /** A second has no room for a part of a record. */
  private def whole(size: Int): Double = {
    val bytes = size + 8.0 // with the partition key
    val records = math.floor(math.min(1000, Mebi / bytes))
    math.max(records / 1000, records * bytes / Mebi)
  }

  private val Mebi = 1024.0 * 1024
}
