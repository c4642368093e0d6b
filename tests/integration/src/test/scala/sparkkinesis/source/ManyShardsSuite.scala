package sparkkinesis.source

import scala.concurrent.duration._
import scala.util.Success

import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Millis, Seconds, Span}

import sparkkinesis.client.{ShardFilter, ShardLister, SystemClock}
import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.model.{StreamName, StreamRef}
import sparkkinesis.shard.{ReadSettings, ServiceTime, StreamClient}
import sparkkinesis.simulator.service.SimulatedKinesis
import sparkkinesis.source.checkpoint.DescribedStream
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.source.query.{Command, QueryStreams}

/** The number of calls that describe a stream, by the number of its shards. */
class ManyShardsSuite extends AnyFunSuite with Eventually {
  implicit override val patienceConfig: PatienceConfig =
    PatienceConfig(Span(180, Seconds), Span(50, Millis))

  private val ref = StreamRef.ByName(StreamName("orders"))

  /** A query that begins and is audited once. */
  private final class Begun(shards: Int) {
    private val kinesis = new SimulatedKinesis(SystemClock)
    kinesis.createStream(ref.name, shards)
    private val options =
      SourceOptions.parse(Map("streamName" -> s"${ref.name}", "region" -> "us-east-1"), None)
    private val described = DescribedStream(
      options.streams.head,
      kinesis.describeStream(ref),
      new ServiceTime
    )
    kinesis.statistics.reset()
    private val access = StreamClient(ref, kinesis)
    private val start = ReadAheadFixture.oldest(access)
    private val streams = new QueryStreams(options, Seq(described), () => 0.5)
    for (Command.List(arn) <- streams.advance(SourceOffset.of(Seq(start)), SystemClock.moment)) {
      val listed = ShardLister.list(kinesis, ref, ShardFilter.FromTrimHorizon).shards
      assert(streams.listed(arn, Success(listed), SystemClock.moment).isEmpty)
    }

    /** The calls so far, except those that read one shard. */
    def calls: Map[String, Long] =
      kinesis.statistics.snapshot.calls -- Seq("GetShardIterator", "GetRecords")

    def readEachShard(): this.type = {
      val settings =
        ReadAheadFixture.Settings.copy(
          ReadSettings(10, 1.milli, 1.hour),
          bufferBytes = Some(200L << 20)
        )
      val query = new ReadAheadFixture(access, start, settings)
      try eventually(assert(query.driver.frontiers.size === shards))
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
