package sparkkinesis.source.simulation

import java.time.Instant

import scala.collection.mutable
import scala.concurrent.duration._
import scala.util.Random

import sparkkinesis.client.{ShardFilter, ShardSnapshot}
import sparkkinesis.model._
import sparkkinesis.model.offset.{SourceOffset, StreamOffset}
import sparkkinesis.simulator.fault.Faults
import sparkkinesis.simulator.{SimulatedClock, SimulatedKinesis}
import sparkkinesis.source.StreamClient
import sparkkinesis.source.checkpoint.{OffsetCodec, ShardDiscovery}
import sparkkinesis.source.fetch.{FetchStep, PageBuffer, ShardFetcher, ShardFetchers}
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.plan.{BatchPlanner, FetchCoordinator, Lineage, OneBatch}
import sparkkinesis.source.position.{ByShard, StartingPosition}
import sparkkinesis.source.protocol.{
  FetchCounters,
  FetchReport,
  FetchStatus,
  ReadLimits,
  ShardRange
}
import sparkkinesis.source.replay.ShardRangeReader

/** @param chains of several shards that one task read */
final case class OnceSeen(rows: Int, chains: Int, hasLetGo: Boolean)

/** A stream that is written to and resharded, and runs with `Trigger.Once` over it, all by the seed. */
final class OnceHistory(seed: Long) {
  private val random = new Random(seed)
  private val clock = new SimulatedClock(Instant.parse("2026-01-01T00:00:00Z"))
  private val chaos = Faults.seeded(seed, 0.1)
  private var isQuiet = true
  private val kinesis =
    new SimulatedKinesis(clock, faults = operation => if (isQuiet) None else chaos(operation))
  private val name = StreamName("orders")
  private val stream = StreamClient(StreamRef.ByName(name), kinesis)
  private val written =
    mutable.Map.empty[String, Vector[(Int, Long)]].withDefaultValue(Vector.empty)
  private val read = mutable.Map.empty[String, Vector[Int]].withDefaultValue(Vector.empty)
  private var count = 0
  private var chains = 0
  private var hasLetGo = false

  private val settings = FetchSettings(
    maxRecords = 1 + random.nextInt(30),
    minPeriod = 200.millis,
    idlePeriod = 1.second,
    bufferBytes = if (random.nextBoolean()) 3000L + random.nextInt(20000) else 1000000L,
    limits = ReadLimits.None,
    failOnDataLoss = true,
    stopAtMillis = None
  )

  def live(): OnceSeen = {
    kinesis.createStream(name, 1 + random.nextInt(3))
    var offset = SourceOffset.of(Seq(begin()))
    for (_ <- 0 until 1 + random.nextInt(3)) {
      for (_ <- 0 until 1 + random.nextInt(12)) produce()
      offset = run(offset)
    }
    OnceSeen(read.values.map(_.size).sum, chains, hasLetGo)
  }

  private def begin(): StreamOffset = ShardDiscovery
    .initialOffset(stream, ByShard(StartingPosition.TrimHorizon), clock, () => 0.5)

  private def produce(): Unit = {
    val wasQuiet = isQuiet
    isQuiet = true
    random.nextInt(8) match {
      case 0 | 1 => split()
      case 2 => merge()
      case _ => for (_ <- 0 to random.nextInt(25)) put()
    }
    isQuiet = wasQuiet
  }

  private def put(): Unit = {
    val key = s"key${random.nextInt(8)}"
    kinesis.putRecord(name, PutEntry(key, s"$key:$count".getBytes, None))
    written.update(key, written(key) :+ (count -> clock.now.toEpochMilli))
    count += 1
    clock.advance(random.nextInt(50).millis)
  }

  private def open: Seq[Shard] = ShardSnapshot
    .list(kinesis, stream.ref, ShardFilter.AtLatest)
    .shards
    .sortBy(_.hashKeys.first)

  private def split(): Unit = if (open.size < 6) {
    val shard = open(random.nextInt(open.size))
    val middle = (shard.hashKeys.first.value + shard.hashKeys.last.value) / 2 + 1
    kinesis.splitShard(name, shard.id, HashKey(middle))
  }

  private def merge(): Unit = {
    val pairs = open.sliding(2).collect { case Seq(a, b) => (a, b) }.toSeq
    if (pairs.nonEmpty) {
      val (a, b) = pairs(random.nextInt(pairs.size))
      kinesis.mergeShards(name, a.id, b.id)
    }
  }

  /** One run of the query: a batch, its tasks, and what must hold of it. */
  private def run(start: SourceOffset): SourceOffset = {
    val stopAtMillis = clock.now.toEpochMilli
    clock.advance(1.milli)
    val driver = new OnceDriver(settings.copy(stopAtMillis = Some(stopAtMillis)), start)
    isQuiet = false
    val end = driver.onlyEnd(start, stopAtMillis)
    isQuiet = true
    val logged = OffsetCodec.decode(OffsetCodec.encode(end))
    val tasks = Lineage.chains(BatchPlanner.ranges(start, logged), logged)
    chains += tasks.count(_.size > 1)
    val rows = tasks.map(_.flatMap(driver.read))
    require(rows == tasks.map(_.flatMap(driver.reread)), "another attempt read otherwise")
    require(rows.flatten.distinct.size == rows.flatten.size, "a record came twice")
    val keys = rows.map(_.map(_.takeWhile(_ != ':')).toSet)
    require(keys.flatten.distinct.size == keys.map(_.size).sum, "a key in several tasks")
    rows.flatten.foreach { row =>
      val key = row.takeWhile(_ != ':')
      read.update(key, read(key) :+ row.drop(key.length + 1).toInt)
    }
    written.foreach { case (key, numbers) =>
      val due = numbers.collect { case (number, arrival) if arrival <= stopAtMillis => number }
      require(read(key) == due, s"$key came as ${read(key)}, not as $due")
    }
    logged
  }

  /** One life of the driver, with its executors. */
  private final class OnceDriver(settings: FetchSettings, start: SourceOffset) {
    private val coordinator = new FetchCoordinator(10.seconds)
    private var started = 0
    private var executors = Vector(newExecutor())
    coordinator.advance(start, start, clock.now)

    private def newExecutor(): OnceExecutor = {
      started += 1
      new OnceExecutor(s"executor-$started", settings, coordinator)
    }

    def onlyEnd(start: SourceOffset, stopAtMillis: Long): SourceOffset = {
      var (batch, refusals, rounds) = (OneBatch.from(start, stopAtMillis), 0L, 0)
      while (!batch.isDone) {
        coordinator.advance(batch.pagesFrom, batch.tip, clock.now)
        executors.foreach(_.work())
        val refused = coordinator.counters.refusals
        hasLetGo ||= refused > refusals
        batch = batch.further(coordinator.frontiers, isFull = refused > refusals)
        refusals = refused
        if (rounds > 200) isQuiet = true else disturb()
        clock.advance((100 + random.nextInt(900)).millis)
        rounds += 1
        require(rounds < 2000, s"never ends: $batch")
      }
      batch.end
    }

    private def disturb(): Unit = random.nextInt(15) match {
      case 0 => produce()
      case 1 => executors :+= newExecutor()
      case 2 if executors.size > 1 =>
        coordinator.executorLost(executors.head.id, clock.now)
        executors = executors.drop(1)
      case _ =>
    }

    def read(range: ShardRange): Vector[String] = {
      val pages = executors.iterator.flatMap(_.buffer.pages(range)).nextOption()
      pages.fold(reread(range))(texts)
    }

    def reread(range: ShardRange): Vector[String] =
      texts(new ShardRangeReader(stream, settings, clock, () => 0.5, () => false).pages(range))

    private def texts(pages: Iterator[PackedRecords]) =
      pages.flatMap(_.map(record => new String(record.data))).toVector
  }

  private final class OnceExecutor(
      val id: String,
      settings: FetchSettings,
      coordinator: FetchCoordinator
  ) {
    val buffer = new PageBuffer(settings.bufferBytes)
    private val fetchers: ShardFetchers = new ShardFetchers(
      buffer,
      new ShardFetcher(stream, _, buffer, settings, () => fetchers.size, () => random.nextDouble())
    )
    private var known = 0L

    def work(): Unit = {
      heartbeat(Vector.empty)
      heartbeat(fetchers.all.toVector.map(_.step(clock.now)).collect {
        case FetchStep.Fetched(report, _, _, _) => report
      })
      require(buffer.bytes <= settings.bufferBytes + 30 * 1000, s"${buffer.bytes} B")
    }

    private def heartbeat(reports: Vector[FetchReport]): Unit = {
      val counters = FetchCounters.Zero.copy(refusals = buffer.refusals)
      val status = FetchStatus(id, "localhost", reports, counters, None, known)
      val reply = coordinator.heartbeat(status, clock.now)
      known = reply.version
      reply.plan.foreach(fetchers(_))
    }
  }
}
