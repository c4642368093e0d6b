package sparkkinesis.source.memory

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.OtherClassLoader

class FetchMemorySuite extends AnyFunSuite {

  /** Joins the memory of this JVM as another isolated session does. */
  private def elsewhere(use: (() => Unit) => Unit): Unit =
    OtherClassLoader.call("sparkkinesis.source.memory.FetchMemory", "ofJvm") { memory =>
      val account = memory.getClass.getMethod("join", classOf[Long]).invoke(memory, Long.box(1000))
      assert(memory.getClass ne classOf[FetchMemory])
      use(() => account.getClass.getMethod("close").invoke(account): Unit)
    }

  test("two class loaders share one memory") {
    val memory = FetchMemory.ofJvm
    val (before, account) = (memory.services, memory.join(1000))
    val alone = account.bytes
    elsewhere { close =>
      assert(memory.services === before + 2 && account.bytes === 1000 / (before + 2))
      close()
    }
    assert(account.bytes === alone)
    account.close()
    assert(memory.services === before && account.bytes === 0)
  }

  test("a query that joins an executor whose memory is full reads several pages at once") {
    val (memory, mega) = (new FetchMemory(), 1L << 20)
    memory.join(256 * mega).hold(192 * mega)
    val (late, _) = (memory.join(256 * mega), memory.join(256 * mega))
    val arrivals = Seq.fill(3)(late.arrival())
    assert(arrivals.forall(_.admits(mega)))
    assert(!late.arrival().admits(FetchMemory.LargestPage), "each has room for one largest page")
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
}
