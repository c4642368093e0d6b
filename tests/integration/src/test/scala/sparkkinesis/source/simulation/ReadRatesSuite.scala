package sparkkinesis.source.simulation

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

/**
 * How much of a shard's read quota queries use, and how few calls are refused, in virtual time. A
 * stream has eight shards, each with a seed of its own.
 */
class ReadRatesSuite extends AnyFunSuite {
  private val Shards = 8
  private val Streams = 4

  private def percent(shares: Seq[Double]): Double = 100 * shares.sum / shares.size

  private def ratio(one: Double, other: Double): Double =
    math.max(one, other) / math.min(one, other)

  private def each[A](end: FiniteDuration, stream: Int = 0)(start: ReadRates => A): Seq[A] =
    (1 to Shards).map { shard =>
      val seed = stream * Shards + shard
      val rates = new ReadRates(seed.toLong, end)
      val results = start(rates)
      rates.run()
      results
    }

  Seq(true, false).foreach { isAws =>
    val where = if (isAws) "on AWS" else "at an endpoint whose quota it must learn"
    test(s"one query, $where: it uses the quota, and hardly a call is refused") {
      val results = each(60.seconds)(_.query(isAws, 0.seconds, from = 0.seconds))
      val (use, refused) = (percent(results.map(_.use)), percent(results.map(_.refusedShare)))
      info(f"$use%.1f %% of the quota, $refused%.2f %% refused")
      assert(results.forall(_.use >= 0.95))
      assert(refused <= 2)
    }

    Seq(0.seconds, 20.seconds).foreach { later =>
      test(s"two queries, $where, one begins $later later: each has its part of every shard") {
        val from = later + 20.seconds
        (0 until Streams).foreach { stream =>
          val results = each(later + 120.seconds, stream) { rates =>
            (rates.query(isAws, 0.seconds, from), rates.query(isAws, later, from))
          }
          val (one, other) = results.unzip
          val ratios = results.map { case (one, other) => ratio(one.use, other.use) }
          val ofStream = ratio(percent(one.map(_.use)), percent(other.map(_.use)))
          val refused = percent((one ++ other).map(_.refusedShare))
          val used = results.map { case (one, other) => one.use + other.use }
          info(
            f"stream $stream: larger part by smaller $ofStream%.2f, of a shard at most " +
              f"${ratios.max}%.2f, ${percent(used)}%.1f %% of the quota, at least " +
              f"${100 * used.min}%.1f %%, refused $refused%.2f %%"
          )
          assert(ofStream <= 1.2)
          assert(ratios.max <= 2)
          assert(percent(used) >= 95 && used.min >= 0.9)
          assert(refused <= 5)
        }
      }
    }
  }

  test("beside a loop that polls the tip five times per second: few calls are refused") {
    val results = each(360.seconds) { rates =>
      (rates.query(isAws = true, 0.seconds, from = 60.seconds), rates.loop(100000, 60.seconds))
    }
    val (ours, loops) = results.unzip
    val (use, refused) = (percent(ours.map(_.use)), percent(ours.map(_.refusedShare)))
    info(
      f"use $use%.1f %%, the loop ${percent(loops.map(_.use))}%.1f %%, " +
        f"refused $refused%.2f %%, the loop ${percent(loops.map(_.refusedShare))}%.1f %%"
    )
    assert(refused <= 10)
    assert(use >= 15)
  }
}
