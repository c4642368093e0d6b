package sparkkinesis.source.query

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.client.Moment
import sparkkinesis.model.offset.{Progress, ShardProgress, StreamOffset}
import sparkkinesis.source.ScriptedKinesis.summary
import sparkkinesis.source.ServiceTime
import sparkkinesis.source.checkpoint.DescribedStream
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.source.protocol.FetchCounters
import sparkkinesis.source.realtime._

/** When a real-time batch ends for a reason that no task knows. */
class RealTimeQuerySuite extends AnyFunSuite {
  private val unread = ShardProgress(Progress.TrimHorizon, Set.empty)
  private val start = only(
    StreamOffset(arn, Instant.EPOCH, SortedMap(shardId(0) -> unread, shardId(1) -> unread))
  )
  private val status =
    RealTimeStatus("a", "host", "s", FetchCounters.Zero, Map.empty, Map.empty, None, None)

  private class Driving(slots: Int = 2) {
    var now: FiniteDuration = 1.hour
    private val options = SourceOptions.parse(Map("streamArn" -> s"$arn"), None)
    private val described = DescribedStream(options.streams.head, summary(), new ServiceTime)
    val query = new RealTimeQuery(options, new QueryStreams(options, Seq(described), () => 0.5))
    around(slots)

    def moment: Moment = {
      val instant = Instant.ofEpochMilli(now.toMillis)
      Moment(instant, instant)
    }

    def around(slots: Int = slots, isWanted: Boolean = false): Unit =
      query.around(slots, isWanted, query.lastBatch, moment)

    def begin(): RealTimeBatch = query.began(start, moment) match {
      case Answer.Ready(batch) => batch
      case other => fail(s"not begun: $other")
    }

    def endedBatch: Long = query.heard(status).endedBatch

    def end(batch: RealTimeBatch): Unit = {
      val ends = batch.tasks.map { starts =>
        val ends = starts.map(it => ReadUpTo(it.shard, it.from, None, Nil, 0, 0, None))
        TaskEnd(ends, hasRun = true, isRetry = false)
      }
      query.ended(ends, moment): Unit
    }
  }

  test("something outside ends the running batch, and not the next one") {
    val driving = new Driving
    val first = driving.begin()
    assert(driving.begin() eq first, "Spark asks several times")
    assert(driving.endedBatch === 0)
    driving.around(isWanted = true)
    assert(driving.endedBatch === 1 && driving.query.isEnding)
    driving.end(first)
    assert(!driving.query.isEnding, "it no longer ends the batches of other sources")
    driving.around()
    assert(driving.begin().number === 2 && driving.endedBatch === 1)
  }

  test("what was seen in a batch that is over does not end the next one") {
    val driving = new Driving
    val first = driving.begin()
    driving.end(first)
    driving.begin()
    driving.query.around(2, isWanted = true, first.number, driving.moment)
    assert(driving.endedBatch === 0)
  }

  test("more slots end a batch that has been running for a while") {
    val driving = new Driving(slots = 1)
    assert(driving.begin().tasks.size === 1)
    driving.around(slots = 2)
    assert(driving.endedBatch === 0)
    driving.now += RealTimeQuery.Patience + 1.milli
    driving.around(slots = 2)
    assert(driving.endedBatch === 1)
  }

  test("a failure of an executor fails the next batch") {
    val driving = new Driving
    driving.begin()
    driving.query.foundVersion("0.0.1")
    assert(driving.endedBatch === 1)
    assertThrows[org.scalatest.exceptions.TestFailedException](driving.begin())
  }
}
