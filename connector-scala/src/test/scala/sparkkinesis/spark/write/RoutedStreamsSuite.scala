package sparkkinesis.spark.write

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{CountDownLatch, Executors, TimeUnit}

import scala.collection.mutable
import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client._
import sparkkinesis.model.{RecordDistribution, StreamName, StreamRef}
import sparkkinesis.sink.{FastClock, WaitingTasks}
import sparkkinesis.spark.errors.ConnectorError
import sparkkinesis.spark.read.ManyStreams

class RoutedStreamsSuite extends AnyFunSuite {
  private val patience = 5.minutes
  private val client = ClientConfig(
    "eu-west-1",
    None,
    CredentialsConfig(CredentialsSource.DefaultChain, None)
  )

  private def access(name: String) = StreamAccess(StreamRef.ByName(StreamName(name)), client)

  private class Fixture(val kinesis: ManyStreams = new ManyStreams(Map("orders" -> 100))) {
    val clock = new FastClock
    val due: mutable.Buffer[() => Unit] = mutable.Buffer.empty[() => Unit]
    val streams =
      new RoutedStreams(_ => kinesis.loan(), clock, (_, task) => due += task)

    def limit(name: String): Int = {
      val loan = streams.borrow(access(name))
      try loan.value.summary(patience).maxRecordBytes
      finally loan.close()
    }
  }

  test("a stream is described once, however many tasks ask at the same time") {
    val it = new Fixture
    val (tasks, begin) = (Executors.newFixedThreadPool(8), new CountDownLatch(1))
    try {
      val answers = Seq.fill(8)(tasks.submit { () => begin.await(); it.limit("orders") })
      begin.countDown()
      assert(answers.map(_.get(10, TimeUnit.SECONDS)).toSet === Set(100))
    } finally tasks.shutdownNow(): Unit
    assert(it.kinesis.asked === Seq("orders"))
    assert(it.streams.loans === 0)
  }

  test("while the service does not answer, all tasks wait for one description") {
    val (asked, end) = (new AtomicInteger, new CountDownLatch(1))
    val ask = () => {
      asked.incrementAndGet()
      end.await()
      throw new KinesisException.Unreachable("reset")
    }
    val description = new StreamDescription(access("orders").ref, ask, new FastClock)
    val outcomes =
      WaitingTasks.failures(description.within(1.minute, Duration.Zero))(end.countDown())
    assert(outcomes.forall(_.isInstanceOf[KinesisException.Unreachable]) && asked.get === 1)
  }

  test("a recreated stream, or one with another configuration, has new lanes and rates") {
    val it = new Fixture
    val loan = it.streams.borrow(access("orders"))
    val first = loan.value.summary(patience)
    val target = loan.value.target(first, executors = 1)
    assert(loan.value.target(first.copy(openShards = 9), executors = 5) eq target)
    val others = Seq(
      first.copy(created = first.created.plusSeconds(1)),
      first.copy(maxRecordBytes = 2),
      first.copy(distribution = Some(RecordDistribution.Auto)),
      first.copy(distribution = Some(RecordDistribution.Auto), openShards = 9)
    )
    val targets = others.map(loan.value.target(_, executors = 1))
    assert((target +: targets).distinct.size === 5)
    loan.close()
  }

  test("a stream is described again after ten minutes") {
    val it = new Fixture
    assert(it.limit("orders") === 100)
    it.kinesis.setLimit("orders", 200)
    it.clock.pass(9.minutes)
    assert(it.limit("orders") === 100)
    it.clock.pass(1.minute)
    assert(it.limit("orders") === 200)
  }

  test("borrowing a stream makes no call") {
    val it = new Fixture
    it.streams.borrow(access("orders")).close()
    assert(it.kinesis.asked.isEmpty)
  }

  test(
    "calls that fail for a while are retried; a stream that is being created is refused, and " +
      "described again"
  ) {
    val it = new Fixture
    it.kinesis.refusals ++= Seq.fill(6)(new KinesisException.LimitExceeded("busy"))
    it.kinesis.refusals ++= Seq.fill(6)(new KinesisException.Unreachable("reset"))
    assert(it.limit("orders") === 100 && it.kinesis.asked.size === 13)
    val other = new Fixture
    other.kinesis.status = StreamStatus.Creating
    assert(intercept[ConnectorError](other.limit("orders")).getCondition === "KINESIS_STREAM_BUSY")
    other.kinesis.status = StreamStatus.Active
    assert(other.limit("orders") === 100)
  }

  test("a missing stream is remembered for a minute") {
    val it = new Fixture
    (1 to 3).foreach(_ => assertThrows[KinesisException.NotFound](it.limit("refunds")))
    assert(it.kinesis.asked === Seq("refunds"))
    it.kinesis.setLimit("refunds", 7)
    val kept = it.streams.borrow(access("refunds")) // so that it is not forgotten altogether
    it.clock.pass(61.seconds)
    assert(kept.value.summary(patience).maxRecordBytes === 7)
  }

  test("other failures are not remembered") {
    val it = new Fixture
    it.kinesis.refusals += new KinesisException.AccessDenied("no")
    assertThrows[KinesisException.AccessDenied](it.limit("orders"))
    assert(it.limit("orders") === 100)
  }

  test("freshSummary describes a stream again, at most once per minute") {
    val it = new Fixture
    val stream = it.streams.borrow(access("orders")).value
    assert(stream.summary(patience).maxRecordBytes === 100)
    it.kinesis.setLimit("orders", 200)
    assert(stream.freshSummary(patience).maxRecordBytes === 100)
    it.clock.pass(61.seconds)
    assert(
      stream.summary(patience).maxRecordBytes === 100 && stream
        .freshSummary(patience)
        .maxRecordBytes === 200
    )
    assert(it.kinesis.asked.size === 2)
  }

  test("a stream that nobody borrows is removed, and its client is returned") {
    val it = new Fixture
    it.limit("orders")
    assert(it.kinesis.closed === 0)
    it.clock.pass(Pool.IdleTime + 1.second)
    it.due.foreach(_())
    assert(it.kinesis.closed === 1)
    it.limit("orders")
    assert(it.kinesis.asked.size === 2)
  }
}
