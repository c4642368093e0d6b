package sparkkinesis.sink.write

import java.util.concurrent.Semaphore
import java.util.concurrent.atomic.AtomicInteger

import org.scalatest.concurrent.Eventually._
import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.sink.{FakeKinesis, FastClock, SinkOptions}

/** How much a writer holds in memory. */
class RecordWriterMemorySuite extends AnyFunSuite with RecordWriterFixture {
  test("put waits while the buffer is full, and a record larger than the buffer is sent alone") {
    val gate = new Semaphore(0)
    val kinesis = new FakeKinesis((it, entries) => {
      gate.acquire()
      entries.map(it.write)
    })
    val clock = new FastClock
    val options = SinkOptions(maxBufferedBytes = 5 * (4 + 128)) // four bytes and 128 per record
    using(newWriter(kinesis, options, clock = clock)) { writer =>
      val done = new AtomicInteger
      thread {
        (1 to 6).foreach { i =>
          writer.put(entry(i.toString))
          done.set(i)
        }
        writer.put(entry("x" * 5000))
        writer.flush()
        done.set(100)
      }
      eventually(soon)(assert(done.get === 5))
      val waits = clock.waits
      eventually(soon)(assert(clock.waits > waits + 10)) // time for a sixth, if it did not wait
      assert(done.get === 5)
      assert(writer.buffered === 20)
      gate.release(1000)
      eventually(soon)(assert(done.get === 100))
      assert(kinesis.written.size === 7)
    }
  }

  test("memory stays bounded, whatever fails") {
    val options = patient.copy(maxBufferedBytes = 16 * (4 + 128))
    using(newWriter(moody(7), options)) { writer =>
      (1 to 400).foreach { i =>
        writer.put(entry(i.toString))
        assert(writer.buffered <= 16 * 7)
      }
      writer.flush()
    }
  }
}
