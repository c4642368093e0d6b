package sparkkinesis.sink.write

import java.util.concurrent.atomic.AtomicInteger

import scala.concurrent.duration._
import scala.util.Try

import org.scalatest.concurrent.Eventually._
import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client.{KinesisException, PutResult}
import sparkkinesis.sink.{AggregateLimits, FakeKinesis, SinkOptions}

/** Which failures make a writer fail. */
class RecordWriterFailureSuite extends AnyFunSuite with RecordWriterFixture {
  test(
    "the error after the delivery timeout names stream, shard and first failure"
  ) {
    val answers = Iterator("slow down", "still slow").concat(Iterator.continually("later"))
    val kinesis = new FakeKinesis((_, _) =>
      throw new KinesisException.Throttled(answers.synchronized(answers.next()))
    )
    using(newWriter(kinesis, lingering.copy(deliveryTimeout = 30.seconds))) { writer =>
      (1 to 7).foreach(i => writer.put(entry(i.toString)))
      val e = intercept[DeliveryTimeoutException](writer.flush())
      assert(
        e.getMessage.contains("Stream orders, shard s, did not accept a record within 30 seconds")
      )
      assert(e.getMessage.contains("7 records of this task are not acknowledged"))
      assert(e.getMessage.endsWith("The first failure was: slow down"))
      assert(kinesis.requests.size > 5, "it must retry until then")
      assert(intercept[DeliveryTimeoutException](writer.put(entry("8"))) eq e)
      assert(intercept[DeliveryTimeoutException](writer.flush()) eq e)
    }
  }

  test("a failure that a retry cannot fix is thrown at once") {
    val denied = new KinesisException.AccessDenied("no")
    val kinesis = new FakeKinesis((_, _) => throw denied)
    using(newWriter(kinesis)) { writer =>
      writer.put(entry("1"))
      assert(intercept[KinesisException.AccessDenied](writer.flush()) eq denied)
      assert(kinesis.requests.size === 1)
    }
  }

  test("a failure is reported once, while the owner does something else") {
    val denied = new KinesisException.AccessDenied("no")
    val kinesis = new FakeKinesis((_, _) => throw denied)
    val reports = new AtomicInteger
    using(newWriter(kinesis, onFailure = () => { reports.incrementAndGet(); () })) { writer =>
      writer.check()
      (1 to 20).foreach(i => Try(writer.put(entry(i.toString))))
      eventually(soon)(assert(reports.get === 1))
      assert(intercept[KinesisException.AccessDenied](writer.check()) eq denied)
    }
    assert(reports.get === 1)
  }

  test("a record that Kinesis rejects permanently is not sent again") {
    val kinesis = new FakeKinesis((_, entries) =>
      entries.map(_ => PutResult.Failed("InvalidArgumentException", "too large"))
    )
    using(newWriter(kinesis)) { writer =>
      writer.put(entry("1"))
      val e = intercept[KinesisException.InvalidArgument](writer.flush())
      assert(e.getMessage.contains("stream orders") && e.getMessage.contains("too large"))
      assert(kinesis.requests.size === 1)
    }
  }

  /** Refuses requests of more bytes. */
  private def narrow(most: Int) = new FakeKinesis((it, entries) =>
    if (entries.map(_.size).sum > most) throw new KinesisException.TooLarge("status 413")
    else entries.map(it.write)
  )

  test("a request that the server finds too large is halved until it is accepted") {
    val kinesis = narrow(most = 12)
    using(newWriter(kinesis, lingering)) { writer =>
      val sent = (1 to 9).map(_.toString)
      sent.foreach(text => writer.put(entry(text)))
      writer.flush()
      assert(kinesis.requests.head === 9 && kinesis.requests.tail.max === 3)
      assert(kinesis.written.sorted === sent)
      val before = kinesis.requests.size
      sent.foreach(text => writer.put(entry(text)))
      writer.flush()
      assert(kinesis.requests.drop(before).max === 3, "the size is kept")
    }
  }

  test("a single record that the server finds too large fails the task") {
    def error(options: SinkOptions) = using(newWriter(narrow(most = 3), options)) { writer =>
      (1 to 2).foreach(i => writer.put(entry(i.toString)))
      intercept[KinesisException.TooLarge](writer.flush()).getMessage
    }
    assert(error(lingering) === "status 413")
    val aggregated = error(lingering.copy(aggregation = Some(AggregateLimits())))
    assert(aggregated.matches("status 413\\. .* has \\d+ bytes: decrease 'maxAggregateBytes'\\."))
  }

  test("a response with another number of records is a failed request") {
    val calls = new AtomicInteger
    val kinesis = new FakeKinesis((it, entries) =>
      if (calls.getAndIncrement() == 0) Nil else entries.map(it.write)
    )
    using(newWriter(kinesis, lingering)) { writer =>
      (1 to 3).foreach(i => writer.put(entry(i.toString)))
      writer.flush()
      assert(kinesis.requests === Seq(3, 3))
    }
  }
}
