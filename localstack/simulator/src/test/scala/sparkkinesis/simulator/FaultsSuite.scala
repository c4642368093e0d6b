package sparkkinesis.simulator

import java.nio.charset.StandardCharsets.UTF_8
import java.time.Instant

import scala.reflect.ClassTag

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client._
import sparkkinesis.model._

/** Each fault does what its name says, and no more. */
final class FaultsSuite extends AnyFunSuite {
  private val stream = StreamRef.ByName(StreamName("s"))
  private val shard = ShardId("shardId-000000000000")

  private final class Fixture {
    var next: Option[Fault] = None
    val kinesis = new SimulatedKinesis(
      new SimulatedClock(Instant.EPOCH),
      faults = _ => {
        val fault = next
        next = None
        fault
      }
    )
    kinesis.createStream(stream.name, 1)

    def put(data: String*): Seq[PutResult] =
      kinesis.putRecords(stream, data.map(d => PutEntry("k", d.getBytes(UTF_8), None)))

    def read(): Page =
      kinesis.getRecords(stream, kinesis.shardIterator(stream, shard, Position.TrimHorizon), 100)

    def data: Seq[String] = read().records.map(r => new String(r.data, UTF_8))

    def failing[E <: KinesisException: ClassTag](fault: Fault)(call: => Any): Unit = {
      next = Some(fault)
      intercept[E](call)
      ()
    }
  }

  test("throttled, failed, denied and unreachable calls have no effect") {
    val f = new Fixture
    f.failing[KinesisException.Throttled](Fault.Throttled)(f.put("a"))
    f.failing[KinesisException.ServiceFailure](Fault.ServiceFailure)(f.put("a"))
    f.failing[KinesisException.AccessDenied](Fault.AccessDenied)(f.put("a"))
    f.failing[KinesisException.Unreachable](Fault.Unreachable)(f.put("a"))
    assert(f.data.isEmpty)
  }

  test("a lost answer leaves its effect") {
    val f = new Fixture
    f.failing[KinesisException.Unreachable](Fault.AnswerLost)(f.put("a"))
    assert(f.data == Seq("a"))
  }

  test("an empty page leads back to where it was asked for") {
    val f = new Fixture
    f.put("a")
    val iterator = f.kinesis.shardIterator(stream, shard, Position.TrimHorizon)
    f.next = Some(Fault.EmptyPage)
    val empty = f.kinesis.getRecords(stream, iterator, 10)
    assert(empty.records.isEmpty && empty.millisBehindLatest > 0)
    assert(f.kinesis.getRecords(stream, empty.next.get, 10).records.size == 1)
  }

  test("an iterator expires when told, and a new one reads on") {
    val f = new Fixture
    f.put("a")
    val iterator = f.kinesis.shardIterator(stream, shard, Position.TrimHorizon)
    f.failing[KinesisException.IteratorExpired](Fault.IteratorExpired)(
      f.kinesis.getRecords(stream, iterator, 10)
    )
    assert(f.data == Seq("a"))
  }

  test("a partial put writes the others, and answers in the order of the entries") {
    val f = new Fixture
    f.next = Some(Fault.PartialPut(Set(0, 2)))
    val results = f.put("a", "b", "c", "d")
    assert(results.map(_.isInstanceOf[PutResult.Failed]) == Seq(true, false, true, false))
    assert(f.data == Seq("b", "d"))
    f.next = Some(Fault.PartialPut(_ => true))
    assert(f.put("e").forall(_.isInstanceOf[PutResult.Failed]))
    assert(f.data == Seq("b", "d"))
  }

  test("a fault that does not fit changes nothing") {
    val f = new Fixture
    f.next = Some(Fault.EmptyPage)
    f.put("a")
    assert(f.data == Seq("a"))
  }

  test("a seed gives the same faults again") {
    def faults(seed: Long): Seq[Boolean] = {
      val seeded = Faults.seeded(seed, 0.5)
      val call = DescribeStreamSummary(SimulatedKinesis.arn(stream.name))
      Seq.fill(64)(seeded(call).isDefined)
    }
    assert(faults(7) == faults(7))
    assert(faults(7) != faults(8))
    assert(faults(7).contains(true) && faults(7).contains(false))
  }
}
