package sparkkinesis.shard

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.OtherClassLoader

class FetchMemorySuite extends AnyFunSuite {
  private val giga = 1L << 30

  /** Joins the memory of this JVM as another isolated session does. */
  private def elsewhere(use: (() => Unit) => Unit): Unit =
    OtherClassLoader.call("sparkkinesis.shard.FetchMemory", "ofJvm") { memory =>
      val account = memory.getClass.getMethod("join", classOf[Long]).invoke(memory, Long.box(1000))
      assert(memory.getClass ne classOf[FetchMemory])
      use(() => account.getClass.getMethod("close").invoke(account): Unit)
    }

  test("two class loaders share one memory") {
    val memory = FetchMemory.ofJvm
    val account = memory.join(1000)
    val alone = account.bytes
    val services = 1000 / alone
    elsewhere { close =>
      assert(account.bytes === 1000 / (services + 1))
      close()
    }
    assert(account.bytes === alone)
    account.close()
    assert(account.bytes === 0)
  }

  test("a query that joins an executor whose memory is full reads several pages at once") {
    val (memory, mega) = (new FetchMemory(), 1L << 20)
    memory.join(256 * mega).hold(192 * mega)
    val (late, _) = (memory.join(256 * mega), memory.join(256 * mega))
    val arrivals = Seq.fill(3)(late.arrival())
    assert(arrivals.forall(_.admits(mega)))
    assert(!late.arrival().admits(FetchMemory.LargestPage), "each has room for one largest page")
  }

  test("only services that read, or still hold pages, have a part of the memory") {
    val memory = new FetchMemory()
    val (reading, idle) = (memory.join(1000), memory.join(1000))
    def parts = Seq(reading.bytes, idle.bytes)
    assert(parts === Seq(500, 500))
    idle.hold(300)
    idle.reads(anything = false)
    assert(parts === Seq(500, 0))
    idle.hold(-300)
    assert(parts === Seq(1000, 0))
    idle.hold(300) // a page of a call that had begun
    assert(parts === Seq(500, 0))
    idle.reads(anything = true)
    assert(parts === Seq(500, 500))
    idle.close()
    idle.reads(anything = true)
    assert(parts.head === 1000)
  }

  test("what a service holds beside its pages leaves less room for them, but always some") {
    val memory = new FetchMemory()
    val account = memory.join(1000)
    account.setAside(300)
    assert(account.bytes === 700)
    account.setAside(5000)
    assert(account.bytes === 250)
    account.setAside(0)
    assert(account.bytes === 1000)
  }

  test("by default a service has a sixth of the heap, at most 1 GB; else what the option says") {
    assert(FetchMemory.capacity(None, giga) === giga / 6)
    assert(FetchMemory.capacity(None, 100 * giga) === giga)
    assert(FetchMemory.capacity(Some(3 * giga), giga) === 3 * giga)
  }

  test("a value over half of the heap is warned about by its name") {
    assert(FetchMemory.warning(None, 1) === None)
    assert(FetchMemory.warning(Some(giga / 2), giga) === None)
    val warning = FetchMemory.warning(Some(giga / 2 + 1), giga)
    assert(warning.exists(_.contains("'fetchBufferSize' is 536870913 bytes")))
  }

  test("a reader that holds one page at a time has room for any response") {
    val room = FetchMemory.unlimited
    assert(Seq.fill(100)(room.admits(FetchMemory.LargestPage)).forall(identity))
  }
}
