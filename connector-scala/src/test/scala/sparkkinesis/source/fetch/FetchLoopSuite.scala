package sparkkinesis.source.fetch

import java.time.Instant

import scala.concurrent.duration._
import scala.util.{Failure, Try}

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Allocations
import sparkkinesis.Generators._
import sparkkinesis.client._
import sparkkinesis.model._
import sparkkinesis.model.offset.Progress
import sparkkinesis.shard.feed.FeedCounts
import sparkkinesis.shard.{FetchMemory, ReadSettings, ShardRange, StreamClient}
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.protocol._
import sparkkinesis.source.store.{PageBytes, PageStore, SpillSpace, StoredPage}
import sparkkinesis.source.{ReadOnlyKinesis, ScriptedKinesis}

/** What a service decides, in simulated time. The test carries out its commands when it wants. */
class FetchLoopSuite extends AnyFunSuite {
  private val settings =
    FetchSettings(
      ReadSettings(5, 200.millis, 1.second),
      bufferBytes = Some(1 << 20),
      spillBytes = 0,
      limits = ReadLimits.None
    )

  private def upTo(number: Int): Progress = Progress.After(SequenceNumber(number.toString))

  private def assigned(shard: Int, generation: Long, from: Progress = Progress.TrimHorizon) =
    Assignment(shardOf(shard), generation, from)

  /** Each call returns the next records of a shard that never ends. */
  private class Endless extends ReadOnlyKinesis {
    var during: () => Unit = () => () // happens during a call

    override def describeStream(stream: StreamRef): StreamSummary = ScriptedKinesis.summary()

    override def shardIterator(s: StreamRef, shard: ShardId, at: Position): ShardIterator =
      ShardIterator(at match {
        case Position.AfterSequenceNumber(number) => number.text
        case _ => "0"
      })

    override def getRecords(stream: StreamRef, iterator: ShardIterator, limit: Int): Page = {
      during()
      val last = iterator.token.toInt
      val records = (last + 1 to last + 5).map(number => record(number.toLong, 10))
      Page(records.toVector, Some(ShardIterator(s"${last + 5}")), Some(1000L), Nil)
    }
  }

  private class Looping(
      kinesis: KinesisClient = new Endless,
      settings: FetchSettings = settings,
      memory: Long = 1 << 26,
      spill: SpillSpace = SpillSpace.Off
  ) {
    var now = 0L
    val store = new PageStore(new FetchMemory().join(memory), 0, spill)
    var created: Vector[ShardFetcher] = Vector.empty[ShardFetcher]
    val loop = new FetchLoop(
      "a",
      "host",
      "service",
      "orders",
      settings,
      store,
      (assignment, ofPlan) => {
        val client = StreamClient(stream, kinesis)
        created :+= new ShardFetcher(client, assignment, store, ofPlan, () => 0.5)
        created.last
      },
      FeedCounts.Unread,
      () => 0.0
    )
    var runs: Vector[ShardFetcher] = Vector.empty[ShardFetcher] // that have not begun
    var beats: Vector[(Long, Heartbeat)] = Vector.empty[(Long, Heartbeat)]
    var hasEnded = false

    def moment: Moment = Moment(Instant.ofEpochMilli(now), Instant.ofEpochMilli(now))

    def on(event: Moment => Vector[FetchCommand]): Unit = event(moment).foreach {
      case FetchCommand.Run(fetcher) => runs :+= fetcher
      case FetchCommand.Beat(status) => beats :+= now -> status
      case FetchCommand.Finish => hasEnded = true
    }

    /** The service's timer ticks when the loop wants it. */
    def passUntil(end: Long): Unit = {
      loop.wakeAt.map(_.toEpochMilli.max(now)).filter(_ <= end).foreach { at =>
        now = at
        on(loop.tick)
        passUntil(end)
      }
      now = end
    }

    def run(fetcher: ShardFetcher = runs.head): Unit = {
      runs = runs.filterNot(_ eq fetcher)
      val begin = moment
      val result = Try(fetcher.run(begin))
      on(loop.ran(fetcher, result, begin, _))
    }

    def runAll(): Unit = while (runs.nonEmpty) run()

    def reply(plan: Option[FetchPlan] = None, isStopped: Boolean = false): Unit =
      on(loop.replied(beats.last._2, Some(HeartbeatReply(1, isStopped, plan)), _))

    def plan(done: Map[StreamShard, Progress], assignments: Assignment*): Unit = {
      if (beats.isEmpty) on(loop.tick) else on(loop.hurry)
      reply(Some(FetchPlan(assignments.toVector, done)))
    }

    def shardsToRun: Vector[StreamShard] = runs.map(_.shard)
  }

  private def begun(shards: Int, memory: Long = 1 << 26, spill: SpillSpace = SpillSpace.Off) = {
    val it = new Looping(memory = memory, spill = spill)
    it.plan(Map.empty, (0 until shards).map(n => assigned(n, n + 1L)): _*)
    it
  }

  /** The times of heartbeats that are answered at once. */
  private def heartbeats(it: Looping, until: Long): Seq[Long] = {
    val before = it.beats.size
    while (it.now < until) {
      it.passUntil(it.now + 1)
      it.reply()
    }
    it.beats.drop(before).map(_._1)
  }

  test("a page costs as much beside 10,000 shards that wait for room as beside 10") {
    def bytesPerPage(shards: Int): Long = {
      val together = settings.copy(maxShardSkew = Some(1.minute))
      val service = new Looping(settings = together, memory = 1 << 20)
      service.plan(Map.empty, (0 until shards).map(assigned(_, 1)): _*)
      def page(): Long = {
        val (fetcher, at) = (service.runs.head, service.moment)
        val result = Try(fetcher.run(at))
        Allocations.in(service.on(service.loop.ran(fetcher, result, at, _)))
      }
      page()
      page()
    }
    bytesPerPage(1000) // loads classes
    assert(bytesPerPage(10000) < bytesPerPage(10) * 10)
  }

  test("a shard that is listed as closed is looked at once, without another fetcher") {
    val it = begun(shards = 2)
    it.runAll()
    val closed = assigned(1, 2).copy(isClosed = true)
    it.plan(Map.empty, assigned(0, 1), closed)
    assert(it.shardsToRun === Seq(shardOf(1)) && it.created.size === 2)
    it.runAll()
    it.plan(Map.empty, assigned(0, 1), closed)
    assert(it.runs.isEmpty)
  }

  test("a quiet service sends a heartbeat five times per second, and waits for each answer") {
    val it = new Looping
    assert(heartbeats(it, 801) === Seq(0, 200, 400, 600, 800))
    it.passUntil(5000)
    assert(it.beats.map(_._1).last === 1000, "it has no answer yet")
  }

  test("pages that arrive in quick succession share heartbeats, and a later one is sent at once") {
    val it = begun(shards = 3)
    it.reply()
    it.runAll()
    it.passUntil(30)
    val pages = it.beats.map { case (at, status) => at -> status.reports.size }
    assert(pages.filter(_._2 > 0) === Seq(20 -> 3))
    it.reply()
    it.passUntil(199)
    val sent = it.beats.size
    it.passUntil(205)
    it.run()
    it.passUntil(205)
    assert(it.beats.size === sent + 1 && it.beats.last._2.reports.size === 1)
  }

  test(
    "a driver that does not answer receives the reports again, and the service ends in the end"
  ) {
    val it = begun(shards = 1)
    it.runAll()
    it.passUntil(20)
    val first = it.beats.last._2.reports
    assert(first.size === 1)
    it.on(it.loop.replied(it.beats.last._2, None, _))
    it.passUntil(219)
    assert(it.beats.last._1 === 20, "not at once")
    it.passUntil(220)
    assert(it.beats.last._2.reports === first && !it.hasEnded)
    it.now = 60021
    it.on(it.loop.replied(it.beats.last._2, None, _))
    assert(it.hasEnded && it.loop.hasFinished && it.loop.wakeAt.isEmpty)
  }

  test("a stopped query, and a finished service, leave no command") {
    val it = begun(shards = 2)
    it.passUntil(200)
    it.reply(isStopped = true)
    assert(it.hasEnded)
    val (runs, beats) = (it.runs.size, it.beats.size)
    it.run()
    it.passUntil(1000)
    it.on(it.loop.news(it.created.last, _))
    assert(it.runs.size === runs - 1 && it.beats.size === beats)
  }

  test("an error of a decision reaches the driver; if it does not, the service ends all the same") {
    val told = begun(shards = 1)
    told.passUntil(200) // a heartbeat is on its way
    told.on(_ => told.loop.crash(new OutOfMemoryError("heap")))
    assert(told.beats.last._2.crash.exists(_.contains("heap")) && !told.hasEnded)
    told.on(told.loop.replied(told.beats.head._2, None, _))
    assert(!told.hasEnded, "that was an earlier heartbeat")
    told.reply()
    assert(told.hasEnded)
    val untold = begun(shards = 1)
    (1 to 2).foreach(_ => untold.on(_ => untold.loop.crash(new OutOfMemoryError("heap"))))
    assert(untold.hasEnded)
  }

  test("an assigned shard runs once at a time, and a shard that is no longer assigned ends") {
    val it = new Looping
    it.plan(Map.empty, assigned(1, 1), assigned(0, 2))
    assert(it.shardsToRun.toSet === Set(shardOf(0), shardOf(1)))
    it.passUntil(5000)
    assert(it.runs.size === 2, "both are still running")
    it.plan(Map.empty, assigned(1, 1), assigned(2, 3))
    assert(it.shardsToRun.last === shardOf(2) && it.created.size === 3)
    val replaced = it.runs.filter(_.shard == shardOf(0)).head
    it.run(replaced)
    it.passUntil(9000)
    assert(it.runs.count(_.shard == shardOf(0)) === 0, "its result changes nothing")
    assert(it.beats.flatMap(_._2.reports).forall(_.shard != shardOf(0)))
  }

  test("a shard that is assigned again has a new fetcher, and a closed one makes no call") {
    val it = begun(shards = 1)
    it.plan(Map.empty, assigned(0, 9))
    assert(it.runs.map(_.generation) === Seq(1, 9))
    it.run(it.runs.head)
    assert(it.runs.map(_.generation) === Seq(9) && it.store.shards.isEmpty)
  }

  test("a fetcher that is replaced during its call changes nothing, and leaves no page") {
    val kinesis = new Endless
    val it = new Looping(kinesis)
    it.plan(Map.empty, assigned(0, 1))
    kinesis.during = () => it.plan(Map.empty, assigned(0, 9))
    it.run()
    kinesis.during = () => ()
    it.passUntil(5000)
    assert(it.runs.map(_.generation) === Seq(9), "the old one does not run again")
    assert(it.store.shards.isEmpty, "its page would occupy room for ever")
    assert(it.beats.forall(_._2.reports.isEmpty), "its result is not reported")
  }

  test("news during a run lead to another one at once, and news during a rest end it") {
    val it = begun(shards = 1)
    val fetcher = it.runs.head
    it.on(it.loop.news(fetcher, _))
    assert(it.runs.size === 1)
    it.run()
    assert(it.runs.size === 1, "at once")
    it.run()
    assert(it.runs.isEmpty, "it rests")
    it.passUntil(it.now + 10)
    it.on(it.loop.news(fetcher, _))
    assert(it.runs.size === 1)
  }

  test("a run that fails unexpectedly fails the query, and an interrupt does not") {
    val it = begun(shards = 2)
    val (first, second) = (it.runs(0), it.runs(1))
    it.on(it.loop.ran(first, Failure(new InterruptedException), it.moment, _))
    it.on(it.loop.ran(second, Failure(new NoClassDefFoundError("a class")), it.moment, _))
    it.runs = Vector.empty
    it.passUntil(5000)
    assert(
      it.beats.flatMap(_._2.failure).map(_.condition).distinct === Seq("KINESIS_INTERNAL_ERROR")
    )
    assert(it.runs === Seq(first), "after a pause")
  }

  test("a failure of a shard that is no longer assigned here is not reported") {
    val it = begun(shards = 1)
    it.on(it.loop.ran(it.runs.head, Failure(new NoClassDefFoundError("a class")), it.moment, _))
    it.plan(Map.empty, assigned(0, 2))
    it.passUntil(1000)
    assert(it.beats.last._2.failure.isEmpty)
  }

  test("pages after an assignment's start are dropped, because they are fetched again") {
    val it = new Looping
    hold(it.store, 0, 1 to 5)
    it.plan(Map.empty, assigned(0, 1, upTo(3)))
    assert(holds(it.store, 0, 1, 3) && !holds(it.store, 0, 1, 4))
  }

  test("pages of finished batches and of shards that the plan does not name are dropped") {
    val it = new Looping
    (0 to 2).foreach(hold(it.store, _, 1 to 5))
    it.plan(Map(shardOf(0) -> upTo(2), shardOf(1) -> upTo(4)), assigned(0, 1, upTo(5)))
    assert(holds(it.store, 0, 2, 5) && !holds(it.store, 0, 1, 5))
    assert(holds(it.store, 1, 4, 5) && !holds(it.store, 1, 3, 5), "its last batch may still run")
    assert(it.store.shards === Set(shardOf(0), shardOf(1)))
  }

  /** Pages of one record each. */
  private def hold(store: PageStore, shard: Int, numbers: Range): Unit = numbers.foreach { number =>
    val from = if (number == 1) Progress.TrimHorizon else upTo(number - 1)
    val records = PackedRecords(Vector(record(number.toLong, 1)))
    store.add(shardOf(shard), StoredPage(from, records, upTo(number)))
  }

  private def holds(store: PageStore, shard: Int, from: Int, last: Int): Boolean =
    store.parts(ShardRange(shardOf(shard), upTo(from), upTo(last))).nonEmpty

  test("shards without room wait, and are asked again when a page has arrived or was dropped") {
    // Room for two pages that are being requested.
    val it = begun(shards = 6, memory = 5 * ServiceLimits.ReadBytesPerSecond / 2)
    val first = it.shardsToRun
    assert(first.size === 2)
    it.passUntil(199)
    assert(it.shardsToRun === first, "nothing has changed")
    it.run()
    assert(it.shardsToRun.diff(first).size === 1, "it took less room than was reserved for it")
    it.runAll()
    assert(it.created.size === 6)
    it.passUntil(1000)
    assert(it.store.shards.size === 6)
  }

  test("a full store is asked by each shard five times per second, whatever else happens") {
    var asked = 0
    val spill = new SpillSpace {
      override def isOpen: Boolean = {
        asked += 1 // once or more for each question
        false
      }
      override def write(page: PageBytes): Option[Long] = None
      override def read(id: Long): Option[PageBytes] = None
      override def remove(id: Long): Unit = ()
    }
    val it = begun(shards = 64, memory = 1000, spill = spill)
    it.runAll()
    it.passUntil(10000)
    it.runAll()
    it.passUntil(20000)
    asked = 0
    it.passUntil(20200)
    val each = asked
    assert(each > 0 && it.runs.isEmpty)
    it.passUntil(22200)
    assert(asked <= 11 * each)
  }

  test("while shards wait for room, the driver is asked more often whether a batch is done") {
    val it = begun(shards = 64, memory = 1000)
    it.runAll()
    it.passUntil(1000)
    it.reply()
    val times = heartbeats(it, it.now + 200)
    assert(times.zip(times.drop(1)).forall { case (one, next) => next - one === 50 })
    assert(times.size >= 3)
  }
}
