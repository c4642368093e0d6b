package sparkkinesis.sink.write

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger

import org.scalacheck.{Gen, Shrink}
import org.scalatest.concurrent.Eventually._
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.client.SystemClock
import sparkkinesis.sink.FakeKinesis
import sparkkinesis.sink.metrics.SinkCounter._

/** What a writer sends, and when. */
class RecordWriterSuite extends AnyFunSuite with ScalaCheckPropertyChecks with RecordWriterFixture {

  /** A smaller seed gives no simpler history. */
  private implicit def asDrawn[A]: Shrink[A] = Shrink.shrinkAny

  test("whatever fails, every record arrives at least once, and no other record") {
    forAll(Gen.long, Gen.choose(0, 300)) { (seed, count) =>
      val kinesis = moody(seed)
      val sent = (1 to count).map(_.toString)
      using(newWriter(kinesis, patient)) { writer =>
        sent.foreach(text => writer.put(entry(text)))
        writer.flush()
        assert(kinesis.written.toSet === sent.toSet)
        assert(writer.buffered === 0)
        assert(writer.metrics(RecordsWritten) === count)
        assert(writer.metrics(Requests) === kinesis.requests.size)
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
    using(newWriter(kinesis, lingering)) { writer =>
      (1 to 9).foreach(i => writer.put(entry(i.toString)))
      writer.flush()
      assert(kinesis.requests === Seq(9, 3))
      assert(kinesis.written.sorted === (1 to 9).map(_.toString))
      val metrics = writer.metrics
      assert((metrics(RecordsWritten), metrics(BytesWritten)) === ((9, 9 * 4)))
      assert((metrics(Requests), metrics(SentRecords)) === ((2, 12)))
      assert((metrics(RetriedRecords), metrics(ThrottledRecords)) === ((3, 3)))
    }
  }

  test("full requests are sent at once, the rest at flush") {
    val kinesis = FakeKinesis.willing
    using(newWriter(kinesis, lingering, clock = SystemClock)) { writer =>
      (1 to 25).foreach(i => writer.put(entry(i.toString)))
      eventually(soon)(assert(kinesis.requests === Seq(10, 10)))
      writer.flush()
      assert(kinesis.requests === Seq(10, 10, 5))
    }
  }

  test("a record is sent after its linger time, even if no other record follows") {
    val kinesis = FakeKinesis.willing
    using(newWriter(kinesis, clock = SystemClock)) { writer =>
      writer.put(entry("1"))
      eventually(soon)(assert(kinesis.requests === Seq(1)))
    }
  }

  test("as many requests are in flight as allowed, and never more") {
    val (now, most) = (new AtomicInteger, new AtomicInteger)
    val three = new CountDownLatch(3)
    val kinesis = new FakeKinesis((it, entries) => {
      most.accumulateAndGet(now.incrementAndGet(), math.max)
      three.countDown()
      three.await()
      now.decrementAndGet()
      entries.map(it.write)
    })
    using(newWriter(kinesis, patient.copy(maxInFlightRequests = 3))) { writer =>
      (1 to 100).foreach(i => writer.put(entry(i.toString)))
      writer.flush()
      assert(most.get === 3)
    }
  }

  test("flush without records returns") {
    using(newWriter(FakeKinesis.willing))(_.flush())
  }
}
