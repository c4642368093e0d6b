package sparkkinesis.sink

import java.util.concurrent.CountDownLatch

import scala.concurrent.duration._

import org.scalatest.concurrent.Eventually._
import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client.SystemClock
import sparkkinesis.sink.write.RecordWriterFixture

class SinkMetricsSuite extends AnyFunSuite with RecordWriterFixture {
  private def sleeping(millis: Long, shard: String) =
    SinkMetrics.Zero.copy(sleep = Some(ShardSleep("orders", shard, millis)))

  test("of two writers counts add up, and of peaks and sleeps the greater is told") {
    val a = sleeping(7, "s1").copy(records = 1, requests = 2, entries = 9, peakBuffered = 5)
    val b = sleeping(8, "s2").copy(records = 10, requests = 1, peakBuffered = 4, peakInFlight = 3)
    val both = a + b
    assert((both.records, both.requests, both.recordsPerRequest) === ((11, 3, 3.0)))
    assert((both.peakBuffered, both.peakInFlight, both.sleepMillis) === ((5, 3, 8)))
    assert(both.sleep.map(_.shard) === Some("s2"))
    assert(a + SinkMetrics.Zero === a && SinkMetrics.Zero.recordsPerRequest === 0)
  }

  test("peaks stay when all is acknowledged") {
    val both = new CountDownLatch(2)
    val kinesis = new FakeKinesis((it, entries) => {
      both.countDown()
      both.await()
      entries.map(it.write)
    })
    using(newWriter(kinesis, SinkOptions(linger = 1000.hours))) { writer =>
      (1 to 20).foreach(_ => writer.put(entry("x")))
      writer.flush()
      val metrics = writer.metrics
      assert((metrics.buffered, metrics.inFlight) === ((0, 0)))
      assert((metrics.peakBuffered, metrics.peakInFlight) === ((20 * 4, 2)))
    }
  }

  test("a closed writer's requests without an answer count as such") {
    val kinesis = new FakeKinesis((_, _) => { new CountDownLatch(1).await(); Nil })
    val writer = newWriter(kinesis, clock = SystemClock)
    writer.put(entry("x"))
    eventually(soon)(assert(kinesis.requests.nonEmpty))
    writer.close()
    val metrics = writer.metrics.closed
    assert((metrics.requests, metrics.unanswered, metrics.failedRequests) === ((1, 1, 1)))
    assert((metrics.inFlight, metrics.buffered) === ((0, 0)))
  }
}
