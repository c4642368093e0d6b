package sparkkinesis.sink.write

import java.util.concurrent.Semaphore
import java.util.concurrent.atomic.AtomicInteger

import org.scalatest.concurrent.Eventually._
import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.sink.{FakeKinesis, SinkOptions}

/** What a writer holds in memory. */
class RecordWriterMemorySuite extends AnyFunSuite with RecordWriterFixture {
  test("put waits while the buffer is full, and a record larger than it goes alone") {
    val gate = new Semaphore(0)
    val kinesis = new FakeKinesis((it, entries) => {
      gate.acquire()
      entries.map(it.write)
    })
    using(newWriter(kinesis, SinkOptions(maxBufferedBytes = 5 * (4 + 128)))) { writer =>
      val done = new AtomicInteger
      val owner = thread {
        (1 to 6).foreach { i =>
          writer.put(entry(i.toString))
          done.set(i)
        }
        writer.put(entry("x" * 5000))
        writer.flush()
        done.set(100)
      }
      eventually(soon)(assert(owner.getState === Thread.State.TIMED_WAITING))
      assert(done.get === 5) // of four bytes each, and 128 for each
      assert(writer.buffered === 20)
      gate.release(1000)
      eventually(soon)(assert(done.get === 100))
      assert(kinesis.written.size === 7)
    }
  }

  test("memory stays bounded whatever fails") {
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
