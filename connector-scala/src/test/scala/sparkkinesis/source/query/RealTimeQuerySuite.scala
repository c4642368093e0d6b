package sparkkinesis.source.query

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._
import scala.util.Success

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.client.Moment
import sparkkinesis.model.offset.{Progress, ShardProgress, SourceOffset, StreamOffset}
import sparkkinesis.model.{ChildShard, HashKeyRange, StreamShard}
import sparkkinesis.shard.ServiceTime
import sparkkinesis.source.ScriptedKinesis.summary
import sparkkinesis.source.checkpoint.DescribedStream
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.source.protocol.{
  FetchCounters,
  FetchFailure,
  FinishedShard,
  Frontier,
  Heartbeat,
  HeartbeatReply,
  RealTimeShardState
}
import sparkkinesis.source.realtime._

/** When a real-time batch ends for a reason that no task knows, and what the driver knows of it. */
class RealTimeQuerySuite extends AnyFunSuite {
  private val range = HashKeyRange.even(1).head

  private def child(number: Int, parents: Int*) =
    ChildShard(shardId(number), parents.map(shardId), range)

  /** An offset at which the shards with these numbers are readable. */
  private def at(shards: Int*): SourceOffset = only(
    StreamOffset(
      arn,
      Instant.EPOCH,
      SortedMap(shards.map(shardId(_) -> ShardProgress(Progress.TrimHorizon, Set.empty)): _*)
    )
  )

  private def status(executor: String, ended: (Int, Seq[ChildShard])*): Heartbeat =
    statusOf(1, executor, ended: _*)

  private def statusOf(batch: Long, executor: String, ended: (Int, Seq[ChildShard])*) =
    Heartbeat(
      executor,
      s"host-$executor",
      Vector.empty,
      FetchCounters.Zero,
      None,
      0,
      service = "s",
      ended = ended.map { case (shard, children) =>
        shardOf(shard) -> FinishedShard(batch, children)
      }.toMap
    )

  private def reading(executor: String, states: (StreamShard, RealTimeShardState)*) =
    status(executor).copy(shards = states.toMap)

  private def parked = RealTimeShardState(0, 0, 0, isActive = false)
  private def active = RealTimeShardState(0, 0, 0, isActive = true)

  private class Driving(slots: Int = 2, patience: FiniteDuration = 1.hour) {
    var now: FiniteDuration = 1.hour
    private val options = SourceOptions.parse(Map("streamArn" -> s"$arn"), None)
    private val described = DescribedStream(options.streams.head, summary(), new ServiceTime)
    private val streams = new QueryStreams(options, Seq(described), () => 0.5)
    val query = new RealTimeQuery(options, streams, patience)
    around(slots)

    def moment: Moment = {
      val instant = Instant.ofEpochMilli(now.toMillis)
      Moment(instant, instant)
    }

    def around(slots: Int = slots, isWanted: Boolean = false): Unit =
      query.around(slots, isWanted, query.lastBatch, moment)

    def begin(start: SourceOffset = at(0, 1)): RealTimeBatch = query.began(start, moment) match {
      case Answer.Ready(batch) => batch
      case other => fail(s"not begun: $other")
    }

    def hear(status: Heartbeat): HeartbeatReply = {
      query.tick(moment)
      query.heard(status)
    }

    def endedBatch: Long = query.heard(status("a")).endedBatch

    /** @param idle number of tasks that Spark did not run */
    def end(batch: RealTimeBatch, idle: Int = 0): Unit = {
      val ends = batch.tasks.zipWithIndex.map { case (starts, index) =>
        val ends = starts.map(it => ReadUpTo(it.shard, it.from, None, Nil, 0, 0, None))
        TaskEnd(ends, hasRun = index >= idle, isRetry = false)
      }
      query.ended(ends, moment): Unit
    }

    def report: QueryReport = query.report(at(0, 1), moment)

    def frontiers: Map[StreamShard, Frontier] = report.frontiers

    def executorOf(shard: Int): Option[(String, String)] =
      query.place(Seq(RealTimeStart(shardOf(shard), Progress.TrimHorizon, None, None)))
  }

  private def goesOn(reply: HeartbeatReply, batch: Long): Boolean =
    !reply.isStopped && reply.endedBatch < batch

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

  test("executors hear of closed shards at whose tips they are") {
    val driving = new Driving
    driving.begin()
    val closed = newStream(3).map(shard => shard.copy(last = Some(shard.first)))
    driving.query.listed(arn, Success(closed.take(2)), driving.moment)
    val behind = active.copy(millisBehind = 1)
    val status = reading("a", shardOf(0) -> behind, shardOf(1) -> active, shardOf(2) -> active)
    assert(driving.hear(status).closed === Set(shardOf(1)))
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

  test("a failure of an executor ends the batch and fails the next one") {
    val driving = new Driving
    driving.begin()
    driving.query.foundVersion("0.0.1")
    assert(driving.endedBatch === 1)
    assertThrows[org.scalatest.exceptions.TestFailedException](driving.begin())
  }

  test("a shard that ended and has children ends the batch") {
    val driving = new Driving
    assert(driving.begin().number === 1)
    assert(goesOn(driving.hear(status("a")), 1))
    val ended = status("a", 0 -> Seq(child(2, 0), child(3, 0)))
    assert(driving.hear(ended) === HeartbeatReply(0, isStopped = false, None, 1, Set.empty))
  }

  test("a shard that ended without children does not end the batch") {
    val driving = new Driving
    driving.begin()
    assert(goesOn(driving.hear(status("a", 0 -> Nil)), 1))
  }

  test("a merge ends the batch when both parents ended, on any executors") {
    val driving = new Driving
    val merged = child(2, 0, 1)
    driving.begin()
    assert(goesOn(driving.hear(status("a", 0 -> Seq(merged))), 1))
    assert(driving.hear(status("b", 1 -> Seq(merged))).endedBatch === 1)
  }

  test("a status of the batch before does not end the next one") {
    val driving = new Driving
    val ended = status("a", 0 -> Seq(child(1, 0)))
    val first = driving.begin(at(0))
    assert(driving.hear(ended).endedBatch === 1)
    driving.end(first)
    assert(driving.begin(at(1)).number === 2)
    assert(goesOn(driving.hear(ended), 2))
    assert(goesOn(driving.hear(status("b")), 2))
  }

  test("a shard that was read to its end in an earlier batch does not end this one") {
    val driving = new Driving
    driving.end(driving.begin(at(0)))
    driving.begin(at(0))
    assert(goesOn(driving.hear(status("a", 0 -> Seq(child(1, 0)))), 2))
    assert(driving.hear(statusOf(2, "b", 0 -> Seq(child(1, 0)))).endedBatch === 2)
  }

  test("a failure ends the batch, and the first one is kept") {
    val driving = new Driving
    driving.begin()
    def failed(text: String) = Some(FetchFailure("KINESIS_ACCESS_DENIED", text, shardOf(0), 1))
    assert(driving.hear(status("a").copy(failure = failed("first"))).endedBatch === 1)
    driving.hear(status("b").copy(failure = failed("second")))
    assert(driving.query.executors.failure === failed("first"))
  }

  test("a crash of a service ends the batch") {
    val driving = new Driving
    driving.begin()
    assert(driving.hear(status("a").copy(crash = Some("OOM"))).endedBatch === 1)
    assert(driving.query.executors.crash === Some("OOM") && driving.query.hasFailed)
  }

  test("the counters include those of lost executors, but not their sizes") {
    val driving = new Driving
    def counts(executor: String, records: Long) = driving.hear(
      status(executor).copy(counters =
        FetchCounters.Zero.copy(records = records, bufferedBytes = records * 10)
      )
    )
    counts("a", 5)
    counts("b", 2)
    driving.query.lost("a")
    counts("b", 3)
    assert(driving.report.counters.records === 8)
    assert(driving.report.counters.bufferedBytes === 30)
    counts("a", 1)
    assert(driving.report.counters.records === 9, "a new service counts from zero")
  }

  test("the place, the frontier and the silence of a shard") {
    val driving = new Driving
    val first = shardOf(0) -> RealTimeShardState(70, 90, 1, isActive = true)
    driving.hear(reading("a", first, shardOf(1) -> active))
    assert(driving.executorOf(0) === Some("host-a" -> "a") && driving.executorOf(2) === None)
    val frontier = driving.frontiers(shardOf(0))
    assert((frontier.millisBehindLatest, frontier.completeAsOfMillis) === (70 -> 90))
    assert(frontier.marks.isEmpty && driving.frontiers.keySet === Set(shardOf(0)))
    driving.hear(reading("a", first))
    assert(driving.report.silence === 500.millis)
    driving.hear(reading("a", shardOf(0) -> RealTimeShardState(70, 90, 2, isActive = true)))
    assert(driving.report.silence === 0.millis)
    driving.query.lost("a")
    assert(driving.executorOf(0) === None && driving.frontiers.isEmpty)
  }

  test("the lag is the age of the oldest record that no task has handed out") {
    val driving = new Driving
    driving.begin()
    val arrived = driving.now.toMillis
    def lags(waiting: Option[Long]) = {
      val read = RealTimeShardState(0, 90, 1, isActive = true, waiting)
      driving.hear(reading("a", shardOf(0) -> read, shardOf(1) -> active))
      driving.query.lateness(driving.moment).lags
    }
    assert(lags(None) === Map(shardOf(0) -> 0L))
    driving.now += 1.minute
    assert(lags(Some(arrived)) === Map(shardOf(0) -> 60000L))
    assert(lags(None) === Map(shardOf(0) -> 0L))
    (1 to 120).foreach(_ => driving.query.tick(driving.moment))
    assert(lags(None).values.forall(_ > 50000), "no page has come for a minute")
  }

  test("an executor gives up a parked shard that another one reads") {
    val driving = new Driving
    driving.hear(reading("a", shardOf(0) -> active, shardOf(1) -> parked))
    val both = reading("b", shardOf(0) -> parked, shardOf(1) -> parked)
    assert(driving.hear(both).elsewhere === Set(shardOf(0)))
    assert(driving.executorOf(0) === Some("host-a" -> "a"))
  }

  test("the batch ends if a shard has no task for too long, and the next one has fewer tasks") {
    val driving = new Driving(patience = 750.millis)
    def answer() = driving.hear(reading("a", shardOf(0) -> active)).endedBatch
    val first = driving.begin()
    assert(Seq.fill(3)(answer()) === Seq(0, 0, 1))
    driving.end(first, idle = 1)
    assert(driving.begin().tasks.size === 1, "one task has found no slot")
  }

  test("the batch ends if its executor is lost, and the next one has as many tasks") {
    val driving = new Driving
    val first = driving.begin()
    driving.hear(reading("a", shardOf(0) -> active, shardOf(1) -> active))
    driving.query.lost("a")
    assert(driving.query.isEnding)
    driving.end(first, idle = 1)
    assert(driving.begin().tasks.size === 2, "the task had no time to run")
  }

  test("a second service of an executor replaces the first one") {
    val driving = new Driving
    driving.begin()
    driving.hear(status("a"))
    assert(!driving.hear(status("a").copy(service = "t")).isStopped)
    assert(driving.hear(status("a")).isStopped)
    assert(!driving.hear(status("a").copy(service = "t")).isStopped)
  }

  test("a silent executor keeps its tasks until it is lost; one without tasks is forgotten") {
    val driving = new Driving
    driving.begin()
    driving.hear(reading("a", shardOf(0) -> active))
    driving.hear(reading("b", shardOf(1) -> parked))
    (1 to 30).foreach(_ => driving.query.tick(driving.moment))
    assert(!driving.query.isEnding)
    assert(driving.executorOf(0) === Some("host-a" -> "a") && driving.executorOf(1) === None)
    driving.query.lost("a")
    assert(driving.query.isEnding)
  }

  test("a stopped query knows which executors have heard of it") {
    val driving = new Driving
    driving.begin()
    Seq("a", "b", "c").foreach(executor => driving.hear(status(executor)))
    driving.query.stop()
    assert(!driving.query.allKnowOfStop, "nobody knows")
    assert(driving.hear(status("a")) === HeartbeatReply(0, isStopped = true, None, 1, Set.empty))
    driving.hear(status("b"))
    assert(!driving.query.allKnowOfStop, "one does not know")
    driving.query.lost("c")
    assert(driving.query.allKnowOfStop)
  }
}
