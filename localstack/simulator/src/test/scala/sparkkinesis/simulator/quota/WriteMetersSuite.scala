package sparkkinesis.simulator.quota

import java.time.Instant

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.simulator.state.WriteQuota

/** What a shard accepts under each kind of quota. */
final class WriteMetersSuite extends AnyFunSuite {
  private val Start = Instant.parse("2026-01-01T00:00:00Z")
  private val Mebi = 1024 * 1024

  private final class Shard(quota: WriteQuota) {
    private var meter = WriteMeters.fresh(quota)(Start)

    /** How many of the records it accepts, at a time in milliseconds. */
    def put(count: Int, at: Long, size: Int = 100): Int = (1 to count).count { _ =>
      val now = Start.plusMillis(at)
      val used = meter.used(size.toLong, now)
      meter = used.getOrElse(meter match {
        case counting: RefusalMeter => counting.refused(size.toLong, now)
        case other => other
      })
      used.isDefined
    }

    def isFresh(at: Long): Boolean = meter.isFresh(Start.plusMillis(at))
  }

  test("a window begins with its first record") {
    val shard = new Shard(WriteQuota.Window)
    assert(shard.put(1, 0) === 1 && shard.put(2000, 999) === 999)
    assert(shard.put(1, 1700) === 1 && shard.put(2000, 2699) === 999)
    assert(shard.put(2000, 2700) === 1000 && !shard.isFresh(3699) && shard.isFresh(3700))
  }

  test("in a window that counts refused records, a large one leaves no room for small ones") {
    def small(quota: WriteQuota) = {
      val shard = new Shard(quota)
      assert(shard.put(1, 0, Mebi / 2) === 1 && shard.put(1, 1, Mebi) === 0)
      shard.put(10, 2)
    }
    assert(small(WriteQuota.Window) === 10 && small(WriteQuota.CountingWindow) === 0)
  }

  test("in any second, refused records count too: who does not stop gets nothing") {
    val shard = new Shard(WriteQuota.Rolling)
    assert(shard.put(1500, 0) === 1000)
    assert((100 to 5000 by 100).map(at => shard.put(150, at.toLong)).sum === 0)
    assert(shard.put(1000, 6000) === 1000 && shard.put(1, 6999) === 0)
  }

  test("without bursts, a tenth of a second's amount passes at once") {
    val shard = new Shard(WriteQuota.Smooth)
    assert(shard.put(1000, 0) === 100 && shard.put(1000, 50) === 50)
    assert(shard.put(1000, 10000) === 100)
  }

  test("another writer takes half") {
    val shard = new Shard(WriteQuota.Shared)
    assert(shard.put(2000, 0) === 1000 && shard.put(2000, 1000) === 500)
  }

  test("the rate doubles twice") {
    val shard = new Shard(WriteQuota.Steps)
    val perSecond = (0 to 60).map(second => shard.put(2000, second * 1000L))
    assert(perSecond.slice(1, 20).forall(_ == 250))
    assert(perSecond.slice(20, 40).forall(_ == 500))
    assert(perSecond.drop(40).forall(_ == 1000))
    assert(!shard.isFresh(120000))
  }

  test("a record larger than the amount of a second passes, and is paid back") {
    WriteQuota.all.foreach { quota =>
      val shard = new Shard(quota)
      assert(shard.put(1, 0, 10 * Mebi) === 1, quota.name)
      assert(shard.put(1, 8000) === 0 && shard.put(1, 60000) === 1, quota.name)
    }
  }
}
