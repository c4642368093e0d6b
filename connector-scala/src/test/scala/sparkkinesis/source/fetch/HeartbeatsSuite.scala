package sparkkinesis.source.fetch

import java.time.Instant

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.client.Moment
import sparkkinesis.model.SequenceNumber
import sparkkinesis.model.offset.Progress
import sparkkinesis.shard.feed.FeedCounts
import sparkkinesis.source.protocol._
import sparkkinesis.source.store.Stores

class HeartbeatsSuite extends AnyFunSuite {
  private def report(number: Int) =
    FetchReport(shardOf(0), number.toLong, Progress.TrimHorizon, Vector.empty, Nil, 0, 0)

  private def at(millis: Long) = Moment(Instant.ofEpochMilli(millis), Instant.ofEpochMilli(millis))

  private class Telling {
    val heartbeats =
      new Heartbeats("a", "host", "service", Stores.inMemory(1000), FeedCounts.Unread)
    private var now = 0L

    def next(): Heartbeat = {
      now += 1000
      heartbeats.due(at(now), isWaiting = false).get
    }

    def told(reply: Option[HeartbeatReply] = Some(HeartbeatReply(1, isStopped = false, None))) = {
      val status = next()
      assert(heartbeats.answered(status, reply, at(now)))
      status
    }
  }

  test("after a long pause of the driver, the reports go in several messages, in order") {
    val telling = new Telling
    (1 to 5000).foreach { number =>
      telling.heartbeats.add(report(number), 1, isUrgent = false)
    }
    assert(telling.told(reply = None).reports === (1 to 2000).map(report))
    assert(Seq.fill(3)(telling.told().reports).flatten === (1 to 5000).map(report))
    assert(telling.told().reports.isEmpty)
  }

  test("empty pages of a shard that the driver has not heard of are one report") {
    val telling = new Telling
    def empty(from: Progress, completeAsOf: Long, behind: Long = 0) =
      FetchReport(shardOf(0), 1, from, Vector.empty, Nil, behind, completeAsOf)
    val upTo = Progress.After(SequenceNumber("7"))
    val page = empty(Progress.TrimHorizon, 50).copy(marks = Vector(Mark(upTo, 1, 1, 50)))
    def pass(reports: FetchReport*) =
      reports.foreach(telling.heartbeats.add(_, 1, isUrgent = false))
    (1 to 100).foreach(number => pass(empty(Progress.TrimHorizon, number.toLong)))
    telling.told(reply = None)
    pass(empty(Progress.TrimHorizon, 0, behind = 9), page)
    telling.told(reply = None)
    (1 to 100).foreach(number => pass(empty(upTo, number.toLong)))
    val told = Seq(empty(Progress.TrimHorizon, 100, behind = 9), page, empty(upTo, 100))
    assert(telling.told().reports === told && telling.told().reports.isEmpty)
  }

  test("a failure is reported until its shard is read elsewhere") {
    val telling = new Telling
    val failure = FetchFailure("KINESIS_ACCESS_DENIED", "denied", shardOf(0), 1)
    telling.heartbeats.fail(failure)
    assert(Seq.fill(2)(telling.told().failure) === Seq.fill(2)(Some(failure)))
    telling.heartbeats.forget(shardOf(0))
    assert(telling.told().failure === None)
  }

  test("the answer to an earlier heartbeat changes nothing") {
    val telling = new Telling
    val first = telling.next()
    val crash = telling.heartbeats.crash("OOM")
    val reply = Some(HeartbeatReply(7, isStopped = false, None))
    assert(!telling.heartbeats.answered(first, reply, at(2000)))
    assert(telling.heartbeats.answered(crash, reply, at(2000)) && crash.crash === Some("OOM"))
  }
}
