package sparkkinesis.source

import scala.concurrent.duration._

import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Millis, Seconds, Span}

import sparkkinesis.client.SystemClock
import sparkkinesis.model.{StreamName, StreamRef}
import sparkkinesis.simulator.service.SimulatedKinesis
import sparkkinesis.source.watch.StreamWatch

/** The number of calls that describe a stream, by the number of its shards. */
class ManyShardsSuite extends AnyFunSuite with Eventually {
  implicit override val patienceConfig: PatienceConfig =
    PatienceConfig(Span(180, Seconds), Span(50, Millis))

  private val ref = StreamRef.ByName(StreamName("orders"))

  /** A query that begins and is audited once. */
  private final class Begun(shards: Int) {
    private val kinesis = new SimulatedKinesis(SystemClock)
    kinesis.createStream(ref.name, shards)
    kinesis.statistics.reset()
    private val access = StreamClient(ref, kinesis)
    private val start = ReadAheadFixture.oldest(access)
    private val watch = new StreamWatch(access, true, 1.minute, () => 0.5)
    watch.advance(start)
    watch.inspect(SystemClock.now)

    /** The calls so far, except those that read one shard. */
    def calls: Map[String, Long] =
      kinesis.statistics.snapshot.calls -- Seq("GetShardIterator", "GetRecords")

    def readEachShard(): this.type = {
      val settings =
        ReadAheadFixture.Settings.copy(idlePeriod = 1.hour, bufferBytes = Some(200L << 20))
      val query = new ReadAheadFixture(access, start, settings)
      try eventually(assert(query.coordinator.frontiers.size === shards))
      finally query.close()
      this
    }
  }

  /** Two lists, one to begin and one to audit, and one description. */
  private def expected(pages: Long): Map[String, Long] =
    Map("ListShards" -> 2 * pages, "DescribeStreamSummary" -> 1L)

  test("a list of shards needs one call per 1,000 shards") {
    Seq(1 -> 1L, 1000 -> 1L, 1001 -> 2L, 10000 -> 10L).foreach { case (shards, pages) =>
      assert(new Begun(shards).calls === expected(pages), s"$shards shards")
    }
  }

  test("the shards that an executor reads share one description and one list of their stream") {
    assert(new Begun(1001).readEachShard().calls === expected(2))
  }
}
