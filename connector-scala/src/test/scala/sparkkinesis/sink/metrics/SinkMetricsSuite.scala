package sparkkinesis.sink.metrics

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client.KinesisException
import sparkkinesis.sink.metrics.SinkCounter._

class SinkMetricsSuite extends AnyFunSuite {
  private def metrics(numbers: (SinkCounter, Long)*): SinkMetrics = {
    val counters = new SinkCounters
    numbers.foreach { case (counter, count) => counters.add(counter, count) }
    counters.snapshot(Vector.empty)
  }

  private def sleep(shard: String, millis: Long) =
    Vector(ShardTraffic("orders", shard, 2, 0, 0, millis, 0))

  test(
    "the metrics of two writers are the sums of counts, and the larger one of peaks and sleeps"
  ) {
    val a = metrics(RecordsWritten -> 1, Requests -> 2, SentRecords -> 9, PeakBufferedBytes -> 5)
      .copy(shards = sleep("s1", 7))
    val b = metrics(RecordsWritten -> 10, Requests -> 1, PeakBufferedBytes -> 4)
      .copy(shards = sleep("s2", 8))
    val both = a + b
    assert((both(RecordsWritten), both(Requests), both.recordsPerRequest) === ((11, 3, 3.0)))
    assert((both(PeakBufferedBytes), both.sleepMillis) === ((5, 8)))
    assert(both.longestSleep.map(_.shard) === Some("s2"))
    assert(a + SinkMetrics.Zero === a && SinkMetrics.Zero.recordsPerRequest === 0)
  }

  test("every counter has a name and a value of its own") {
    assert(SinkCounter.all.map(_.name).distinct.size === SinkCounter.all.size)
    val counters = new SinkCounters
    SinkCounter.all.zipWithIndex.foreach { case (counter, i) => counters.add(counter, i + 1L) }
    assert(
      counters.snapshot(Vector.empty).counts === SinkCounter.all.indices.map(_ + 1L)
    )
  }

  test("peaks stay after all records are acknowledged") {
    val counters = new SinkCounters
    (1 to 20).foreach(_ => counters.recordPut(4))
    (1 to 2).foreach(_ => counters.requestSent(10))
    (1 to 2).foreach(_ => counters.requestEnded(3))
    counters.recordsWritten(20, 80)
    assert((counters.bufferedBytes, counters.bufferedRecords, counters.inFlight) === ((0, 0, 0)))
    val metrics = counters.snapshot(Vector.empty)
    assert((metrics(PeakBufferedBytes), metrics(PeakRequestsInFlight)) === ((80, 2)))
  }

  test("a request that fails as a whole is counted under its kind of failure") {
    val counters = new SinkCounters
    counters.requestFailed(3, new KinesisException.Throttled("slow down"))
    counters.requestFailed(4, new KinesisException.Unreachable("no answer"))
    counters.requestFailed(5, new KinesisException.ServiceFailure("oops"))
    val found = Seq(FailedRequests, ThrottledRecords, UnansweredRequests).map(counters(_))
    assert(found === Seq(3, 3, 1))
  }

  test("a closed writer counts its requests in flight as unanswered") {
    val counters = new SinkCounters
    counters.recordPut(4)
    counters.requestSent(1)
    counters.close()
    assert(Seq(FailedRequests, UnansweredRequests).map(counters(_)) === Seq(1, 1))
    assert((counters.bufferedBytes, counters.inFlight) === ((0, 0)))
  }
}
