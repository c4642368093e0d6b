package sparkkinesis.sink.once

import java.util.concurrent.{ConcurrentHashMap, CountDownLatch, CyclicBarrier, TimeUnit}

import org.scalatest.funsuite.AnyFunSuite

/** Shards are read side by side, within a bound. */
class ShardReadersSuite extends AnyFunSuite {
  test("every shard is read once, and as many at a time as the bound says") {
    val (together, read) = (new CyclicBarrier(3), ConcurrentHashMap.newKeySet[Int])
    val results = ShardReaders.readAll(1 to 9, atATime = 3) { shard =>
      together.await(1, TimeUnit.MINUTES)
      assert(read.add(shard), "read twice")
      shard * 10
    }
    assert(results.sorted === (10 to 90 by 10))
  }

  test("one at a time, the caller reads") {
    val threads = ShardReaders.readAll(1 to 3, atATime = 1)(_ => Thread.currentThread)
    assert(threads.forall(_ eq Thread.currentThread))
  }

  test("if a shard cannot be read, the reads of the others end before the call does") {
    val (begun, ended) = (new CountDownLatch(2), new CountDownLatch(2))
    val e = intercept[IllegalStateException] {
      ShardReaders.readAll(1 to 3, atATime = 3) { shard =>
        if (shard == 2) {
          begun.await()
          throw new IllegalStateException("no")
        }
        begun.countDown()
        try Thread.sleep(600000)
        finally {
          Thread.sleep(50) // a request takes a moment to end
          ended.countDown()
        }
      }
    }
    assert(e.getMessage === "no" && ended.getCount === 0)
  }
}
