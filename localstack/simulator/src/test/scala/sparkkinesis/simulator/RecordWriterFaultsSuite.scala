package sparkkinesis.simulator

import java.nio.charset.StandardCharsets.UTF_8
import java.time.Instant

import scala.concurrent.duration._
import scala.util.Random

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.client.{Clock, KinesisException, ListShardsRequest, ShardFilter}
import sparkkinesis.model._
import sparkkinesis.sink._

/** The threads of the record writer against the local Kinesis in memory, with faults by seed. */
class RecordWriterFaultsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 50)

  private val name = StreamName("orders")
  private val stream = StreamRef.ByName(name)
  private val patience = SinkOptions(deliveryTimeout = 1000.hours, maxBufferedBytes = 4000)

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

  /** Whoever waits moves it. */
  private def clock: Clock = new Clock {
    private val time = new SimulatedClock(Instant.parse("2026-01-01T00:00:00Z"))
    override def now: Instant = time.now
    override def sleep(duration: FiniteDuration): Unit = time.sleep(duration)
    override def await(monitor: AnyRef, millis: Long): Unit = {
      monitor.wait(1)
      time.advance(millis.max(1L).millis)
    }
  }

  private final class OneStream(kinesis: SimulatedKinesis, seed: Long) extends AutoCloseable {
    private val time = clock
    private val target = new TargetStream(stream, kinesis, 1000, None, 1, time, () => 0.5)
    private val writer =
      new RecordWriter(RequestLimits(20, 1000), patience, time, new Random(seed), () => false)
    def put(entry: PutEntry): Unit = writer.put(target, entry)
    def flush(): Unit = writer.flush()
    def metrics: SinkMetrics = writer.metrics
    override def close(): Unit = writer.close()
  }

  private def writer(kinesis: SimulatedKinesis, seed: Long) = new OneStream(kinesis, seed)

  private def arrived(kinesis: SimulatedKinesis): Seq[String] = {
    val listing =
      kinesis.listShards(ListShardsRequest.First(stream, ShardFilter.FromTrimHorizon))
    listing.shards.flatMap { shard =>
      val iterator = kinesis.shardIterator(stream, shard.id, Position.TrimHorizon)
      kinesis.getRecords(stream, iterator, 10000).records.map(it => new String(it.data, UTF_8))
    }
  }

  private val cases = for {
    seed <- Gen.long
    count <- Gen.choose(0, 400)
    percent <- Gen.choose(0, 70)
  } yield (seed, count, percent)

  test("throttled, cut off, half written: every record arrives at least once, and no other") {
    forAll(cases) { case (seed, count, percent) =>
      val service = kinesis(seed, percent / 100.0)
      val sent = (1 to count).map(_.toString)
      val out = writer(service, seed)
      try {
        sent.foreach(it => out.put(PutEntry(s"key-$it", it.getBytes(UTF_8), None)))
        out.flush()
      } finally out.close()
      val found = arrived(service)
      assert(found.toSet === sent.toSet)
      if (percent == 0) assert(found.size === count)
      assert(out.metrics.records === count)
    }
  }

  test("a stream that is deleted meanwhile fails the writer") {
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
