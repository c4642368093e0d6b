package sparkkinesis.simulator.fault

import java.time.Duration

import scala.concurrent.duration._

import sparkkinesis.client.{KinesisClient, KinesisException}
import sparkkinesis.model.Position
import sparkkinesis.simulator.contract.FaultContract
import sparkkinesis.simulator.operation.DescribeStreamSummary
import sparkkinesis.simulator.service.{SimulatedKinesis, Subscription}

final class SimulatedFaultsSuite extends FaultContract {
  override protected def client: KinesisClient = kinesis

  test("a caller of a stalled call waits for 30 seconds, and then gets Unreachable") {
    val f = new Fixture
    val before = clock.now
    f.strike(Fault.Stalled(29.seconds))
    assert(f.put("a").size == 1)
    assert(Duration.between(before, clock.now) == Duration.ofSeconds(29))
    f.failing[KinesisException.Unreachable](Fault.Stalled(1.hour))(f.put("b"))
    assert(Duration.between(before, clock.now) == Duration.ofSeconds(59))
    assert(f.data == Seq("a", "b"))
  }

  test(
    "a fault for events strikes the events of a subscription, and others strike its first call"
  ) {
    val f = new Fixture
    f.put("a", "b")
    val consumer = kinesis.fanOut.register(f.stream, "me").arn
    def subscribe(): Subscription = {
      kinesis.advance(5.seconds)
      kinesis.fanOut.subscribe(consumer, f.shard, Position.TrimHorizon)
    }
    def rule(fault: Fault): Unit = {
      val (operation, stream) = (Some("SubscribeToShard"), Some(f.stream.name))
      kinesis.script.add(FaultRule(fault, operation, stream, Some(f.shard), times = Some(1)))
      ()
    }
    kinesis.statistics.reset()
    Seq(Fault.SubscriptionDropped, Fault.EventTruncated).foreach { fault =>
      rule(fault)
      val broken = subscribe()
      intercept[KinesisException.Unreachable](broken.next())
    }
    rule(Fault.Throttled)
    intercept[KinesisException.Throttled](subscribe())
    assert(subscribe().next().map(_.records.size) == Some(2))
    assert(f.struck == Seq(1, 1, 1))
    val counts = kinesis.statistics.snapshot
    assert(counts.calls == Map("SubscribeToShard" -> 4) && counts.recordsRead == 4)
  }

  test("a seed always gives the same faults") {
    def faults(seed: Long): Seq[Option[Fault]] = {
      val seeded = Faults.seeded(seed, 0.5)
      val call = DescribeStreamSummary(SimulatedKinesis.arn(new Fixture().stream.name))
      Seq.fill(64)(seeded(call))
    }
    assert(faults(7) == faults(7))
    assert(faults(7) != faults(8))
    assert(faults(7).exists(_.isDefined) && faults(7).exists(_.isEmpty))
  }
}
