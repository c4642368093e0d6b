package sparkkinesis.simulator.contract

import java.nio.charset.StandardCharsets.UTF_8
import java.time.Instant
import java.util.concurrent.atomic.AtomicInteger

import scala.concurrent.duration._
import scala.reflect.ClassTag
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client.{KinesisClient, KinesisException, PutResult, ShardIterator}
import sparkkinesis.model.{Position, PutEntry, ShardId, StreamName, StreamRef}
import sparkkinesis.simulator.fault.{Fault, FaultRule}
import sparkkinesis.simulator.service.{SimulatedClock, SimulatedKinesis}
import sparkkinesis.simulator.state.ShardState

/** Each fault does what its name says, and no more: to a caller in memory and to one over HTTP. */
abstract class FaultContract extends AnyFunSuite {
  protected val clock = new SimulatedClock(Instant.parse("2026-01-01T00:00:00Z"))
  protected lazy val kinesis = new SimulatedKinesis(clock)

  /** A client of the same service. */
  protected def client: KinesisClient

  private val names = new AtomicInteger

  protected final class Fixture(shards: Int = 1) {
    kinesis.script.removeAll()
    val stream: StreamRef = StreamRef.ByName(StreamName(s"s-${names.incrementAndGet()}"))
    val shard: ShardId = ShardState.id(0)
    kinesis.createStream(stream.name, shards)

    def put(data: String*): Seq[PutResult] =
      client.putRecords(stream, data.map(d => PutEntry("k", d.getBytes(UTF_8), None)))

    def iterator(): ShardIterator = client.shardIterator(stream, shard, Position.TrimHorizon)

    def data: Seq[String] =
      client.getRecords(stream, iterator(), 100).records.map(r => new String(r.data, UTF_8))

    def strike(fault: Fault, times: Int = 1): Unit = {
      kinesis.script.add(FaultRule(fault, times = Some(times)))
      ()
    }

    def struck: Seq[Long] = kinesis.script.rules.map(_.struck)

    def failing[E <: KinesisException: ClassTag](fault: Fault)(call: => Any): E = {
      strike(fault)
      val failure = intercept[E](call)
      assert(struck.last == 1)
      failure
    }
  }

  test("a refused call has no effect, and its error is that of AWS") {
    val f = new Fixture
    def refused[E <: KinesisException: ClassTag](fault: Fault, code: String): Unit = {
      assert(f.failing[E](fault)(f.put("a")).getMessage.contains(code))
      ()
    }
    refused[KinesisException.Throttled](
      Fault.Throttled,
      "ProvisionedThroughputExceededException"
    )
    refused[KinesisException.Throttled](Fault.KmsThrottled, "KMSThrottlingException")
    refused[KinesisException.LimitExceeded](Fault.LimitExceeded, "LimitExceededException")
    refused[KinesisException.ServiceFailure](Fault.ServiceFailure, "InternalFailure")
    refused[KinesisException.ServiceFailure](Fault.Unavailable, "ServiceUnavailable")
    refused[KinesisException.AccessDenied](Fault.AccessDenied, "AccessDeniedException")
    refused[KinesisException.CredentialsExpired](Fault.TokenExpired, "ExpiredTokenException")
    assert(f.data.isEmpty)
  }

  test("a call whose connection is reset before the service reads it has no effect") {
    val f = new Fixture
    f.failing[KinesisException.Unreachable](Fault.ConnectionReset)(f.put("a"))
    assert(f.data.isEmpty)
  }

  test("a call whose response is lost or truncated has its effect") {
    val f = new Fixture
    f.failing[KinesisException.Unreachable](Fault.AnswerLost)(f.put("a"))
    f.failing[KinesisException.Unreachable](Fault.AnswerTruncated)(f.put("b"))
    assert(f.data == Seq("a", "b"))
  }

  test("a page whose response was truncated can be read again") {
    val f = new Fixture
    f.put((1 to 100).map(_.toString): _*)
    val iterator = f.iterator()
    f.failing[KinesisException.Unreachable](Fault.AnswerTruncated)(
      client.getRecords(f.stream, iterator, 100)
    )
    assert(client.getRecords(f.stream, iterator, 100).records.size == 100)
  }

  test("a stalled response arrives late") {
    val f = new Fixture
    f.strike(Fault.Stalled(20.millis))
    assert(f.put("a").forall(_.isInstanceOf[PutResult.Written]))
    assert(f.data == Seq("a") && f.struck == Seq(1))
  }

  test("the iterator of an empty page continues at the same position") {
    val f = new Fixture
    f.put("a")
    val iterator = f.iterator()
    f.strike(Fault.EmptyPage)
    val empty = client.getRecords(f.stream, iterator, 10)
    assert(empty.records.isEmpty && empty.millisBehindLatest.exists(_ > 0))
    assert(client.getRecords(f.stream, empty.next.get, 10).records.size == 1)
  }

  test("an iterator expires when a fault says so, and a new one continues") {
    val f = new Fixture
    f.put("a")
    val iterator = f.iterator()
    f.failing[KinesisException.IteratorExpired](Fault.IteratorExpired)(
      client.getRecords(f.stream, iterator, 10)
    )
    assert(f.data == Seq("a"))
  }

  test("a partial put writes the other entries, and its results are in the order of the entries") {
    val f = new Fixture
    f.strike(Fault.PartialPut(_ => Set(0, 2)))
    val results = f.put("a", "b", "c", "d")
    assert(results.map(_.isInstanceOf[PutResult.Failed]) == Seq(true, false, true, false))
    assert(f.data == Seq("b", "d"))
    f.strike(Fault.PartialPut(count => (0 until count).toSet))
    assert(f.put("e").forall(_.isInstanceOf[PutResult.Failed]))
    assert(f.data == Seq("b", "d"))
  }

  test("a partial put fails half of its entries, chosen by the seed") {
    val f = new Fixture
    def failed(seed: Long): Seq[Set[Int]] = {
      f.strike(Fault.PartialPut.half(new Random(seed)), times = 3)
      Seq.fill(3)(f.put((1 to 9).map(_.toString): _*)).map { results =>
        results.indices.filter(results(_).isInstanceOf[PutResult.Failed]).toSet
      }
    }
    val once = failed(7)
    assert(once.map(_.size) == Seq(5, 5, 5) && once.distinct.size > 1)
    assert(failed(7) == once && failed(8) != once)
  }

  test("a wrong shard appears only in the response, and the record is in the right shard") {
    val f = new Fixture(shards = 2)
    val written = place(f.put("a"))
    f.strike(Fault.WrongShard)
    val misnamed = place(f.put("b"))
    assert(ShardState.number(misnamed.shard) == ShardState.number(written.shard).map(_ + 1))
    val reading = client.shardIterator(f.stream, written.shard, Position.TrimHorizon)
    val found = client.getRecords(f.stream, reading, 10).records
    assert(found.map(_.sequenceNumber).contains(misnamed.sequenceNumber))
  }

  private def place(results: Seq[PutResult]): PutResult.Written = results match {
    case Seq(written: PutResult.Written) => written
    case other => fail(s"Not one record written: $other")
  }

  test("a recreated stream is empty, has a new creation time, and refuses older iterators") {
    val f = new Fixture(shards = 2)
    f.put("a")
    val before = client.describeStream(f.stream)
    val iterator = f.iterator()
    f.strike(Fault.StreamRecreated)
    val after = client.describeStream(f.stream)
    assert(after.created.isAfter(before.created) && after.openShards == 2)
    assert(f.data.isEmpty)
    intercept[KinesisException.NotFound](client.getRecords(f.stream, iterator, 10))
    assert(f.put("b").forall(_.isInstanceOf[PutResult.Written]))
  }

  test("a fault that does not apply to an operation waits for one that it applies to") {
    val f = new Fixture
    f.strike(Fault.EmptyPage)
    f.put("a")
    assert(f.struck == Seq(0))
    assert(f.data.isEmpty && f.struck == Seq(1))
    assert(f.data == Seq("a"))
  }
}
