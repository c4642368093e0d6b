package sparkkinesis.sink.rate

import scala.util.Random

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** The rate limiter against a shard that throttles records beyond its quota. */
class ShardRateSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  /** A shard whose buckets hold the quota of one second at most. */
  private final class Shard(recordsPerSecond: Double, bytesPerSecond: Double) {
    private var records = recordsPerSecond
    private var bytes = bytesPerSecond
    private var at = 0L
    var written = 0L
    var throttled = 0L

    /** Whether a record is written. */
    def put(size: Int, now: Long): Boolean = {
      val seconds = (now - at) / 1000.0
      records = math.min(recordsPerSecond, records + recordsPerSecond * seconds)
      bytes = math.min(bytesPerSecond, bytes + bytesPerSecond * seconds)
      at = now
      val passes = records >= 1 && bytes >= math.min(size.toDouble, bytesPerSecond)
      if (passes) {
        records -= 1
        bytes -= size
        written += 1
      } else throttled += 1
      passes
    }
  }

  private def quota = new Shard(1000, 1024.0 * 1024)
  private def boundless = new Shard(1e9, 1e12)

  /**
   * Sends records of one size, answered at once, if the limiter allows it; returns their number.
   */
  private def send(rate: ShardRate, shard: Shard, size: Int, now: Long, most: Int = 500): Int =
    if (rate.readyAt(100000, 100000L * size, size, now) > now) 0
    else {
      val taken = Iterator.continually(rate.take(size, now)).takeWhile(identity).take(most).size
      val written = (1 to taken).count(_ => shard.put(size, now))
      def sum(count: Int) = RecordSum(count, count.toLong * size)
      rate.answered(sum(written), sum(taken - written), now, now)
      taken
    }

  private def run(rate: ShardRate, shard: Shard, size: Int, from: Long, until: Long): Unit =
    (from until until by 5).foreach(now => send(rate, shard, size, now))

  private val allSizes =
    Seq(1, 50, 1000, 1048, 1049, 10000, 51200, 100000, 200000, 600000, 800000, 1000000)
  private val sizes = Gen.oneOf(allSizes)

  /** Few records of more than 200 kB fit into a second, and the search for the limit needs some. */
  private def mostRefused(size: Int): Double = if (size > 200000) 0.2 else 0.03

  test("a shard receives all that its quota allows, and hardly a record is throttled") {
    forAll(sizes) { size =>
      val (rate, shard) = (new ShardRate(1, 1, 0), quota)
      run(rate, shard, size, 0, 60000)
      val allowed = math.min(1000.0, 1024.0 * 1024 / size) * 61
      assert(shard.written >= 0.9 * allowed - 2)
      assert(shard.throttled <= mostRefused(size) * shard.written + 2)
    }
  }

  test("a shard without a quota is soon unlimited") {
    forAll(sizes) { size =>
      val (rate, shard) = (new ShardRate(1, 1, 0), boundless)
      Iterator.from(0).takeWhile(_ => !rate.isUnlimited).take(2000).foreach { n =>
        send(rate, shard, size, n * 5L, most = 5000)
      }
      assert(rate.isUnlimited && shard.throttled === 0)
    }
  }

  test("the rate doubles every five round trips, so a fast server without a quota is soon known") {
    def unlimitedAfter(roundTrip: Long): Long = {
      val rate = new ShardRate(1, 1, 0)
      Iterator
        .iterate(0L)(_ + roundTrip)
        .find { now =>
          val taken = Iterator.continually(rate.take(1000, now)).takeWhile(identity).size
          rate.answered(RecordSum(taken, taken * 1000L), RecordSum.Zero, now, now + roundTrip)
          rate.isUnlimited
        }
        .get
    }
    assert(unlimitedAfter(3) <= 120)
    assert(unlimitedAfter(20) <= 500)
    assert(unlimitedAfter(60) >= 900)
  }

  test("if others use half of a shard, the rate drops to the other half") {
    val (rate, shard) = (new ShardRate(1, 1, 0), new Shard(500, 512 * 1024.0))
    run(rate, shard, 1000, 0, 3000)
    assert(rate.share > 0.4 && rate.share < 0.6)
    val (writtenBefore, throttledBefore) = (shard.written, shard.throttled)
    run(rate, shard, 1000, 3000, 63000)
    val written = shard.written - writtenBefore
    assert(written > 0.95 * 500 * 60)
    assert(shard.throttled - throttledBefore < 0.02 * written)
  }

  test("the rate grows again, slowly at first") {
    val (rate, small) = (new ShardRate(1, 1, 0), new Shard(200, 200 * 1024.0))
    run(rate, small, 1000, 0, 5000)
    val share = rate.share
    assert(share < 0.3)
    run(rate, boundless, 1000, 5000, 6000)
    assert(rate.share < share + 0.1)
    run(rate, boundless, 1000, 6000, 15000)
    assert(rate.share === 1.0)
  }

  /** Several executors write, not in step; returns the records that each of them wrote. */
  private def race(rates: Seq[ShardRate], shard: Shard, from: Long, until: Long): Seq[Long] = {
    val random = new Random(1)
    val written = rates.map(_ => 0L).toArray
    (from until until by 5).foreach { now =>
      random.shuffle(rates.indices.toVector).filter(_ => random.nextBoolean()).foreach { turn =>
        val before = shard.written
        send(rates(turn), shard, 1000, now)
        written(turn) += shard.written - before
      }
    }
    written.toSeq
  }

  test("executors that write to one shard share it, and few records are throttled") {
    (2 to 8).foreach { count =>
      val (rates, shard) = (Seq.fill(count)(new ShardRate(1, count, 0)), quota)
      val written = race(rates, shard, 0, 60000)
      assert(shard.written >= 0.93 * 61000)
      assert(shard.throttled <= 0.05 * shard.written)
      assert(written.min > 0.35 * written.max)
    }
  }

  test("executors that do not know of each other share a shard after a while") {
    (2 to 4).foreach { count =>
      val (rates, shard) = (Seq.fill(count)(new ShardRate(1, 1, 0)), quota)
      race(rates, shard, 0, 60000)
      val written = race(rates, shard, 60000, 120000)
      assert(written.sum >= 0.93 * 60000)
      assert(written.min > 0.35 * written.max)
    }
  }

  test("one of many executors soon uses the whole quota, however large its records are") {
    for (size <- allSizes; counted <- Seq(2, 8, 24)) withClue(s"$size bytes, $counted: ") {
      val (rate, shard) = (new ShardRate(1, counted, 0), quota)
      run(rate, shard, size, 0, 20000)
      val before = shard.written
      run(rate, shard, size, 20000, 80000)
      val allowed = math.min(1000.0, 1024.0 * 1024 / size) * 60
      assert(shard.written - before >= 0.95 * allowed - 1)
    }
  }

  test("a refusal of requests that were in flight together counts once") {
    val rate = new ShardRate(1, 1, 0)
    def refuse(sentAt: Long, now: Long): Unit =
      rate.answered(RecordSum(95, 95), RecordSum(5, 5), sentAt, now)
    refuse(0, 1000)
    val first = rate.share
    (1 to 9).foreach(_ => refuse(500, 1010))
    assert(rate.share === first)
    refuse(1000, 1020)
    val second = rate.share
    assert(second < first && second >= first / 2)
    refuse(1010, 1030)
    assert(rate.share === second)
  }

  test("refusals of whole requests in the second after the first burst do not reduce the rate") {
    val rate = new ShardRate(1, 1, 0)
    def refuse(count: Int, now: Long): Unit =
      rate.answered(RecordSum.Zero, RecordSum(count, count.toLong), now, now)
    rate.answered(RecordSum(1000, 1000), RecordSum(5, 5), 0, 100)
    val first = rate.share
    Seq(200L, 400L, 1099L).foreach(refuse(50, _))
    assert(rate.share >= first)
    refuse(50, 1100)
    assert(rate.share < first)
  }

  test("late answers do not make a shard unlimited") {
    forAll(Gen.choose(1L, 1000L)) { delay =>
      val (rate, shard) = (new ShardRate(1, 1, 0), quota)
      (0L until 60000L).by(delay).foreach { now =>
        val taken = Iterator.continually(rate.take(1000, now)).takeWhile(identity).size
        val written = (1 to taken).count(_ => shard.put(1000, now + delay))
        def sum(count: Int) = RecordSum(count, count * 1000L)
        rate.answered(sum(written), sum(taken - written), now, now + delay)
        assert(!rate.isUnlimited)
      }
    }
  }

  test("an unlimited shard that throttles a record is limited at once") {
    val rate = new ShardRate(1, 1, 0)
    (0 to 400).foreach(n => send(rate, boundless, 1000, n * 5L, most = 5000))
    assert(rate.isUnlimited)
    rate.answered(RecordSum(1000, 1000000), RecordSum(400, 400000), 2000, 2000)
    assert(!rate.isUnlimited && rate.share === 1.0)
    assert(rate.readyAt(100, 100000, 1000, 2000) > 2000)
  }

  test(
    "a record larger than the bucket passes when the bucket is full, and its debt is paid back"
  ) {
    val rate = new ShardRate(1, 1, 0)
    val ten = 10 * 1024 * 1024
    assert(rate.readyAt(1, ten.toLong, ten, 0) === 0)
    assert(rate.take(ten, 0))
    assert(!rate.take(1000, 1))
    assert(rate.readyAt(1, 1000, 1000, 1) >= 8900)
    // The bucket must be full again, and soon is, because the rate grows.
    assert(rate.readyAt(1, ten.toLong, ten, 1) >= 9900)
  }

  test("a time before the previous one counts as the previous one") {
    val rate = new ShardRate(1, 1, 10000)
    while (rate.take(1000, 10000)) {}
    assert(!rate.take(1000, 0))
    assert(rate.readyAt(1, 1000, 1000, 0) <= 1000)
  }

  test("two writers of one executor share one quota") {
    val (rate, shard) = (new ShardRate(1, 1, 0), quota)
    val sent = Array(0L, 0L)
    (0L until 60000L by 5).foreach { now =>
      val first = (now / 5 * 7919 % 31 % 2).toInt
      Seq(first, 1 - first).foreach(i => sent(i) += send(rate, shard, 1000, now))
    }
    assert(shard.throttled <= 0.01 * shard.written)
    assert(shard.written >= 0.98 * 61000)
    assert(sent.min > 0.3 * sent.max)
  }
}
