package sparkkinesis.simulator.fault

import java.util.concurrent.{Executors, TimeUnit}

import scala.util.Random

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.client.ShardIterator
import sparkkinesis.model.{Position, PutEntry, StreamArn, StreamName}
import sparkkinesis.simulator.listing.{ListMoreShards, ListStreams}
import sparkkinesis.simulator.operation.{GetRecords, GetShardIterator, Operation, PutRecords}
import sparkkinesis.simulator.paging.{IteratorToken, ListFilter, ListToken}
import sparkkinesis.simulator.service.SimulatedKinesis
import sparkkinesis.simulator.state.ShardState

/** When the rules of a script strike. */
final class ScriptedFaultsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val orders = SimulatedKinesis.arn(StreamName("orders"))
  private val other = SimulatedKinesis.arn(StreamName("other"))
  private val put = PutRecords(orders, Seq(PutEntry("k", Array.emptyByteArray, None)))

  private def iterator(stream: StreamArn, shard: Int): ShardIterator = {
    val epoch = java.time.Instant.EPOCH
    ShardIterator(IteratorToken(stream, epoch, ShardState.id(shard), 0, epoch).encoded)
  }

  private def read(stream: StreamArn, shard: Int) = GetRecords(None, iterator(stream, shard), 10)

  /** At which of so many calls it strikes. */
  private def strikes(faults: Faults, calls: Int, call: Operation[Any] = put): Seq[Int] =
    (0 until calls).filter(_ => faults(call).isDefined)

  test("a rule skips its first calls, then strikes the given number of times, and counts them") {
    forAll(Gen.choose(0, 20), Gen.option(Gen.choose(1, 20)), Gen.choose(0, 60)) {
      (skip, times, calls) =>
        val script = new ScriptedFaults
        script.add(FaultRule(Fault.Throttled, times = times, skip = skip))
        val expected = (0 until calls).drop(skip).take(times.getOrElse(calls))
        assert(strikes(script, calls) === expected)
        assert(script.rules.map(_.struck) === Seq(expected.size))
    }
  }

  test("a rate is the fraction of calls that a rule strikes, and depends only on the seed") {
    forAll(Gen.long, Gen.choose(0.0, 1.0)) { (seed, rate) =>
      def run(seed: Long): Seq[Int] = {
        val script = new ScriptedFaults
        script.add(FaultRule(Fault.Throttled, rate = rate, seed = seed))
        strikes(script, 1000)
      }
      val struck = run(seed)
      assert(run(seed) === struck)
      assert(math.abs(struck.size - 1000 * rate) < 100)
    }
  }

  test("a rule for an operation, stream or shard strikes only its calls") {
    def strikes(rule: FaultRule, call: Operation[Any]): Boolean = {
      val script = new ScriptedFaults
      script.add(rule)
      script(call).isDefined
    }
    val any = FaultRule(Fault.Throttled)
    assert(strikes(any, put) && strikes(any, read(other, 0)))
    val reading = any.copy(operation = Some("GetRecords"))
    assert(strikes(reading, read(orders, 0)) && !strikes(reading, put))
    val ofOrders = any.copy(stream = Some(orders.name))
    assert(strikes(ofOrders, put) && strikes(ofOrders, read(orders, 1)))
    assert(!strikes(ofOrders, read(other, 1)))
    assert(!strikes(ofOrders, ListStreams("us-east-1", "000000000000", None, 1)))
    val ofOne = ofOrders.copy(shard = Some(ShardState.id(1)))
    assert(strikes(ofOne, read(orders, 1)) && !strikes(ofOne, read(orders, 0)))
    assert(strikes(ofOne, GetShardIterator(orders, ShardState.id(1), Position.Latest)))
    assert(!strikes(ofOne, read(other, 1)) && !strikes(ofOne, put))
    val listing = ListToken(
      orders,
      java.time.Instant.EPOCH,
      ListFilter.AtLatest,
      ShardState.id(0),
      java.time.Instant.EPOCH
    )
    assert(strikes(ofOrders, ListMoreShards(listing.encoded, 1)))
  }

  test("the earliest rule that strikes decides, and without a rule the other faults do") {
    val script = new ScriptedFaults(_ => Some(Fault.AccessDenied))
    val first = script.add(FaultRule(Fault.Throttled, times = Some(2)))
    val second = script.add(FaultRule(Fault.ServiceFailure))
    assert(first != second)
    assert(
      Seq.fill(3)(script(put)).flatten ===
        Seq(Fault.Throttled, Fault.Throttled, Fault.ServiceFailure)
    )
    assert(script.rules.map(_.struck) === Seq(2, 1))
    assert(script.remove(second) && !script.remove(second))
    assert(script(put) === Some(Fault.AccessDenied))
    script.removeAll()
    assert(script.rules.isEmpty && script.add(FaultRule(Fault.Throttled)) > second)
  }

  test("with many threads a rule strikes exactly the given number of times") {
    val script = new ScriptedFaults
    script.add(FaultRule(Fault.Throttled, times = Some(500), rate = 0.5, seed = 3))
    val pool = Executors.newFixedThreadPool(4)
    try {
      val counts = (1 to 4).map { _ =>
        pool.submit(() => strikes(script, 2000).size)
      }
      assert(counts.map(_.get(30, TimeUnit.SECONDS)).sum === 500)
    } finally pool.shutdownNow()
  }

  test("invalid numbers are refused, and the error has the name of the field") {
    val cases = Seq[(String, () => FaultRule)](
      "times" -> (() => FaultRule(Fault.Throttled, times = Some(0))),
      "rate" -> (() => FaultRule(Fault.Throttled, rate = 1.5)),
      "rate" -> (() => FaultRule(Fault.Throttled, rate = Double.NaN)),
      "skip" -> (() => FaultRule(Fault.Throttled, skip = -1))
    )
    cases.foreach { case (name, make) =>
      assert(intercept[IllegalArgumentException](make()).getMessage.contains(name))
    }
    assert(Fault.PartialPut.half(new Random(1)).failing(0).isEmpty)
  }
}
