package sparkkinesis.sink

import java.nio.charset.StandardCharsets.UTF_8
import java.time.Instant

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.client.KinesisException
import sparkkinesis.model.{PutEntry, StreamName}
import sparkkinesis.simulator.fault.Faults
import sparkkinesis.simulator.operation.PutRecords
import sparkkinesis.simulator.sdk.Arrived
import sparkkinesis.simulator.service.{SimulatedClock, SimulatedKinesis}
import sparkkinesis.simulator.state.Settings
import sparkkinesis.sink.lane.RequestLimits
import sparkkinesis.sink.metrics.SinkCounter
import sparkkinesis.sink.write.RecordWriterFixture

/** The record writer with its threads against the local Kinesis in memory, with seeded faults. */
class RecordWriterFaultsSuite
    extends AnyFunSuite
    with ScalaCheckPropertyChecks
    with RecordWriterFixture {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 50)

  private val name = StreamName("orders")

  private def kinesis(seed: Long, rate: Double): SimulatedKinesis = {
    val clock = new SimulatedClock(Instant.parse("2026-01-01T00:00:00Z"))
    val random = Faults.seeded(seed, rate)
    val onPut: Faults = {
      case put: PutRecords => random(put)
      case _ => None
    }
    val kinesis = new SimulatedKinesis(clock, Settings(), onPut)
    kinesis.createStream(name, 3)
    kinesis
  }

  private def writer(kinesis: SimulatedKinesis, seed: Long): OneStream =
    newWriter(kinesis, patient.copy(maxBufferedBytes = 4000), RequestLimits(20, 1000), seed = seed)

  private val cases = for {
    seed <- Gen.long
    count <- Gen.choose(0, 400)
    percent <- Gen.choose(0, 70)
  } yield (seed, count, percent)

  test("whatever fails, every record arrives at least once, and no other record") {
    forAll(cases) { case (seed, count, percent) =>
      val service = kinesis(seed, percent / 100.0)
      val sent = (1 to count).map(_.toString)
      val out = writer(service, seed)
      try {
        sent.foreach(it => out.put(PutEntry(s"key-$it", it.getBytes(UTF_8), None)))
        out.flush()
      } finally out.close()
      val found = Arrived.texts(service, name)
      assert(found.toSet === sent.toSet)
      if (percent == 0) assert(found.size === count)
      assert(out.metrics(SinkCounter.RecordsWritten) === count)
    }
  }

  test("a stream that is deleted while it is written to makes the writer fail") {
    val service = kinesis(seed = 1, rate = 0)
    val out = writer(service, seed = 1)
    try {
      out.put(PutEntry("k", Array(1), None))
      out.flush()
      service.deleteStream(name)
      out.put(PutEntry("k", Array(1), None))
      assertThrows[KinesisException.NotFound](out.flush())
    } finally out.close()
  }
}
