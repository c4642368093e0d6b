package sparkkinesis.source.simulation

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

/**
 * How much of a shard's read quota queries use, and how few calls are refused, in virtual time. A
 * stream of eight shards stands for eight seeds.
 */
class ReadRatesSuite extends AnyFunSuite {
  private val Shards = 8

  private def percent(shares: Seq[Double]): Double = 100 * shares.sum / shares.size

  private def each[A](end: FiniteDuration)(start: ReadRates => A): Seq[A] =
    (1 to Shards).map { seed =>
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
      test(s"two queries, $where, one begins $later later: they share the quota") {
        val from = later + 20.seconds
        val results = each(later + 140.seconds) { rates =>
          (rates.query(isAws, 0.seconds, from), rates.query(isAws, later, from))
        }
        val (one, other) = results.unzip
        val uses = Seq(one, other).map(it => percent(it.map(_.use)))
        val refused = Seq(one, other).map(it => percent(it.map(_.refusedShare)))
        info(
          f"use ${uses.map(it => f"$it%.1f").mkString(" and ")} %%, " +
            f"refused ${refused.map(it => f"$it%.2f").mkString(" and ")} %%"
        )
        assert(uses.sum >= 95)
        assert(uses.max <= 1.2 * uses.min)
        assert(refused.sum / 2 <= 5)
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
