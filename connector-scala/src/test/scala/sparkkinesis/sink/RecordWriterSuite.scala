package sparkkinesis.sink

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{CountDownLatch, Semaphore}

import scala.concurrent.duration._
import scala.util.Random

import org.scalacheck.Gen
import org.scalatest.concurrent.Eventually._
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.client._

/** What is written, when, and what is said of what is not. */
class RecordWriterSuite extends AnyFunSuite with WriterFixture with ScalaCheckPropertyChecks {

  /** Fails requests and records by chance, and now and then after they took effect. */
  private def moody(seed: Long): FakeKinesis = {
    val random = new Random(seed)
    new FakeKinesis((it, entries) =>
      random.nextInt(6) match {
        case 0 => throw new KinesisException.Throttled("slow down")
        case 1 => throw new KinesisException.Unreachable("no way")
        case 2 =>
          entries.foreach(it.write)
          throw new KinesisException.Unreachable("no answer")
        case 3 => throw new KinesisException.ServiceFailure("oops")
        case _ =>
          entries.map { entry =>
            random.nextInt(4) match {
              case 0 => FakeKinesis.Throttle
              case 1 => PutResult.Failed("InternalFailure", "Internal service failure.")
              case _ => it.write(entry)
            }
          }
      }
    )
  }

  test("whatever fails, every record arrives at least once, and no other") {
    forAll(Gen.long, Gen.choose(0, 300)) { (seed, count) =>
      val kinesis = moody(seed)
      val sent = (1 to count).map(_.toString)
      withWriter(kinesis, SinkOptions(deliveryTimeout = 1000.hours)) { writer =>
        sent.foreach(text => writer.put(entry(text)))
        writer.flush()
        assert(kinesis.written.toSet === sent.toSet)
        assert(writer.buffered === 0)
        assert(writer.metrics.records === count)
        assert(writer.metrics.requests === kinesis.requests.size)
      }
    }
  }

  test("only the failed records are sent again") {
    val first = new AtomicInteger
    val kinesis = new FakeKinesis((it, entries) =>
      if (first.getAndIncrement() > 0) entries.map(it.write)
      else
        entries.map(e =>
          if (new String(e.data).toInt % 3 == 0) FakeKinesis.Throttle else it.write(e)
        )
    )
    withWriter(kinesis) { writer =>
      (1 to 9).foreach(i => writer.put(entry(i.toString)))
      writer.flush()
      assert(kinesis.requests === Seq(9, 3))
      assert(kinesis.written.sorted === (1 to 9).map(_.toString))
      assert(writer.metrics === SinkMetrics(9, 9 * 4, 2, 3, 3))
    }
  }

  test("full requests leave at once, the rest at flush, or after lingering") {
    val clock = new FastClock
    val kinesis = FakeKinesis.willing
    withWriter(kinesis, clock = clock) { writer =>
      (1 to 25).foreach(i => writer.put(entry(i.toString)))
      eventually(soon)(assert(kinesis.requests === Seq(10, 10)))
      clock.pass(101.millis)
      writer.put(entry("26"))
      eventually(soon)(assert(kinesis.requests === Seq(10, 10, 6)))
      writer.put(entry("27"))
      writer.flush()
      assert(kinesis.requests === Seq(10, 10, 6, 1))
    }
  }

  test("several requests are in flight, never more than allowed") {
    val (now, most) = (new AtomicInteger, new AtomicInteger)
    val three = new CountDownLatch(3)
    val kinesis = new FakeKinesis((it, entries) => {
      most.accumulateAndGet(now.incrementAndGet(), math.max)
      three.countDown()
      three.await()
      now.decrementAndGet()
      entries.map(it.write)
    })
    withWriter(kinesis, SinkOptions(maxInFlightRequests = 3)) { writer =>
      (1 to 100).foreach(i => writer.put(entry(i.toString)))
      writer.flush()
      assert(most.get === 3)
    }
  }

  test("put waits while the buffer is full, and a record larger than it goes alone") {
    val gate = new Semaphore(0)
    val kinesis = new FakeKinesis((it, entries) => {
      gate.acquire()
      entries.map(it.write)
    })
    withWriter(kinesis, SinkOptions(maxBufferedBytes = 20)) { writer =>
      val done = new AtomicInteger
      val owner = thread {
        (1 to 6).foreach { i =>
          writer.put(entry(i.toString))
          done.set(i)
        }
        writer.put(entry("x" * 50))
        writer.flush()
        done.set(100)
      }
      eventually(soon)(assert(owner.getState === Thread.State.WAITING))
      assert(done.get === 5) // of four bytes each
      assert(writer.buffered === 20)
      gate.release(1000)
      eventually(soon)(assert(done.get === 100))
      assert(kinesis.written.size === 7)
    }
  }

  test("memory stays bounded whatever fails") {
    val options = SinkOptions(deliveryTimeout = 1000.hours, maxBufferedBytes = 64)
    withWriter(moody(7), options) { writer =>
      (1 to 400).foreach { i =>
        writer.put(entry(i.toString))
        assert(writer.buffered <= 64)
      }
      writer.flush()
    }
  }

  test("what is not taken in time fails, naming stream, first failure, and how many wait") {
    val answers = Iterator("slow down", "still slow").concat(Iterator.continually("later"))
    val kinesis = new FakeKinesis((_, _) =>
      throw new KinesisException.Throttled(answers.synchronized(answers.next()))
    )
    withWriter(kinesis, SinkOptions(deliveryTimeout = 30.seconds)) { writer =>
      (1 to 7).foreach(i => writer.put(entry(i.toString)))
      val e = intercept[DeliveryTimeoutException](writer.flush())
      assert(e.getMessage.contains("Stream orders did not take 7 records within 30 seconds"))
      assert(e.getMessage.contains("7 records of this task wait"))
      assert(e.getMessage.endsWith("The first failure was: slow down"))
      assert(kinesis.requests.size > 5, "it must have tried until then")
      assert(intercept[DeliveryTimeoutException](writer.put(entry("8"))) eq e)
      assert(intercept[DeliveryTimeoutException](writer.flush()) eq e)
    }
  }

  test("a failure that waiting does not mend is thrown at once") {
    val denied = new KinesisException.AccessDenied("no")
    val kinesis = new FakeKinesis((_, _) => throw denied)
    withWriter(kinesis) { writer =>
      writer.put(entry("1"))
      assert(intercept[KinesisException.AccessDenied](writer.flush()) eq denied)
      assert(kinesis.requests.size === 1)
    }
  }

  test("a record that is refused for good is not sent again") {
    val kinesis = new FakeKinesis((_, entries) =>
      entries.map(_ => PutResult.Failed("InvalidArgumentException", "too large"))
    )
    withWriter(kinesis) { writer =>
      writer.put(entry("1"))
      val e = intercept[KinesisException.InvalidArgument](writer.flush())
      assert(e.getMessage.contains("stream orders") && e.getMessage.contains("too large"))
      assert(kinesis.requests.size === 1)
    }
  }

  test("an answer for another number of records is no answer") {
    val calls = new AtomicInteger
    val kinesis = new FakeKinesis((it, entries) =>
      if (calls.getAndIncrement() == 0) Nil else entries.map(it.write)
    )
    withWriter(kinesis) { writer =>
      (1 to 3).foreach(i => writer.put(entry(i.toString)))
      writer.flush()
      assert(kinesis.requests === Seq(3, 3))
    }
  }

  test("flush without records returns") {
    withWriter(FakeKinesis.willing)(_.flush())
  }
}
