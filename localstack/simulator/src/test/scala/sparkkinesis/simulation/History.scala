package sparkkinesis.simulation

import java.time.Instant

import scala.collection.mutable
import scala.concurrent.duration._
import scala.util.Random

import sparkkinesis.client.ShardFilter
import sparkkinesis.model._
import sparkkinesis.simulator._
import sparkkinesis.source._

/**
 * One seeded life of a query over a simulated Kinesis: producers write and reshard, the service fails,
 * executors come and go, the driver restarts between any two steps. What Spark does around the source
 * is done here, step by step: log the end, run the tasks (again), commit.
 */
final class History(seed: Long) {
  private val random = new Random(seed)
  private val clock = new SimulatedClock(Instant.parse("2026-01-01T00:00:00Z"))
  private var isCalm = true
  private val chaos = Faults.seeded(seed, 0.02 + random.nextDouble() * 0.2)
  private val kinesis =
    new SimulatedKinesis(clock, faults = operation => if (isCalm) None else chaos(operation))
  private val producer = new Producer(kinesis, clock, random)
  private val limits =
    if (random.nextBoolean()) ReadLimits.None
    else
      ReadLimits(
        Some(1L + random.nextInt(30)),
        Option.when(random.nextBoolean())(100L + random.nextInt(1000))
      )
  private val settings = FetchSettings(
    maxRecords = 1 + random.nextInt(50),
    minPeriod = 200.millis,
    idlePeriod = 1.second,
    bufferBytes = 2000L + random.nextInt(20000),
    limits = limits,
    failOnDataLoss = true,
    stopAtMillis = None
  )

  private val log = mutable.ArrayBuffer.empty[String] // Spark's offset log: ends of batches
  private val committed = mutable.ArrayBuffer.empty[Batch]
  private var initial: StreamOffset = _
  private var driver: Driver = _
  private val executors = mutable.Map.empty[String, Executor]
  private var started = 0

  /** The ancestors of every shard there ever was. */
  def ancestors: Map[ShardId, Set[ShardId]] =
    ShardDiscovery
      .listAll(kinesis, producer.stream, ShardFilter.FromTrimHorizon)
      .shards
      .sortBy(_.id)
      .foldLeft(Map.empty[ShardId, Set[ShardId]]) { (known, shard) =>
        known.updated(shard.id, shard.parents.flatMap(p => known.getOrElse(p, Set.empty) + p).toSet)
      }

  /** @return the committed batches and what the producer wrote since the query's start */
  def run(): (Seq[Batch], Map[String, Seq[Int]]) = {
    for (_ <- 0 until random.nextInt(8)) producer.actAtRandom()
    clock.advance(1.second)
    if (random.nextBoolean()) begin(StartingPosition.TrimHorizon)
    else {
      begin(StartingPosition.Latest)
      producer.forget()
    }
    for (_ <- 0 until 50 + random.nextInt(150)) act()
    drain()
    (committed.toSeq, producer.written)
  }

  private def begin(start: StartingPosition): Unit = {
    initial = ShardDiscovery.initialOffset(
      kinesis,
      producer.stream,
      start,
      clock,
      () => random.nextDouble()
    )
    isCalm = false
    driver = new Driver()
    addExecutor()
    if (random.nextBoolean()) addExecutor()
  }

  private def act(): Unit = random.nextInt(20) match {
    case 0 | 1 | 2 | 3 => calmly(producer.actAtRandom())
    case 4 => clock.advance(random.nextInt(400).seconds)
    case 5 => restart()
    case 6 if executors.size > 1 || random.nextInt(4) == 0 => loseExecutor()
    case 7 if executors.size < 3 => addExecutor()
    case 8 | 9 | 10 => runBatch(mayFail = true)
    case _ => executors.values.foreach(_.work())
  }

  /** Without faults: what is not read by now never would be. */
  private def drain(): Unit = {
    isCalm = true
    if (executors.isEmpty) addExecutor()
    var (rounds, extra) = (0, 0)
    while (rounds < 2000 && extra < 20) {
      clock.advance(1.second)
      executors.values.foreach(_.work())
      runBatch(mayFail = false)
      rounds += 1
      // Once all is read, nothing must come again.
      if (committed.map(_.rows.size).sum >= producer.count) extra += 1
    }
    require(
      extra == 20,
      s"stuck at ${OffsetCodec.encode(lastEnd)} with ${driver.coordinator.frontiers}, " +
        s"$settings, and ${executors.mkString}"
    )
  }

  private def calmly(action: => Unit): Unit = {
    isCalm = true
    action
    isCalm = false
  }

  private def addExecutor(): Unit = {
    started += 1
    executors.update(s"executor-$started", new Executor(s"executor-$started"))
  }

  private def loseExecutor(): Unit = executors.keys.toSeq.sorted.headOption.foreach { id =>
    executors.remove(id)
    // The driver may learn of it at once, or by silence.
    if (random.nextBoolean()) driver.coordinator.executorLost(id, clock.now)
    if (executors.isEmpty) addExecutor()
  }

  /** A batch that was logged and not committed is run again by the new driver, with the same ends. */
  private def restart(): Unit = {
    driver = new Driver()
    executors.clear()
    addExecutor()
    if (log.size > committed.size) finish(log.size - 1, mayFail = false)
  }

  private def runBatch(mayFail: Boolean): Unit = {
    val start = lastEnd
    driver.coordinator.advance(start, start, clock.now)
    val end = BatchPlanner.end(start, driver.coordinator.frontiers, limits)
    if (end != start) {
      log += OffsetCodec.encode(end)
      if (mayFail && random.nextInt(10) == 0) restart()
      else finish(log.size - 1, mayFail)
    }
  }

  private def lastEnd: StreamOffset = log.lastOption.fold(initial)(OffsetCodec.decode)

  private def finish(batch: Int, mayFail: Boolean): Unit = {
    val start = if (batch == 0) initial else OffsetCodec.decode(log(batch - 1))
    val end = OffsetCodec.decode(log(batch))
    val ranges = BatchPlanner.ranges(start, end)
    driver.coordinator.advance(start, end, clock.now)
    val rows = ranges.flatMap(read)
    if (mayFail && random.nextInt(4) == 0) {
      executors.values.foreach(_.work())
      val again = ranges.flatMap(read)
      require(rows.map(_.text) == again.map(_.text), s"batch $batch read differently again")
    }
    committed += Batch(ranges.map(_.shard).toSet, rows)
  }

  /** From the pages of the executor that should have them, of any other one, or from Kinesis again. */
  private def read(range: ShardRange): Seq[Row] = {
    val preferred = driver.coordinator.location(range.shard).map(_._2).flatMap(executors.get)
    val other = executors.values.toSeq
    val executor =
      if (random.nextInt(5) == 0) other(random.nextInt(other.size))
      else preferred.getOrElse(other.head)
    val buffered = executor.buffer.records(range).map(_.toVector)
    val records = buffered.getOrElse(reread(range))
    if (buffered.nonEmpty && random.nextInt(3) == 0)
      require(
        reread(range).map(_.sequenceNumber) == records.map(_.sequenceNumber),
        s"pages of $range differ"
      )
    records.map(record => Row(range.shard, record.sequenceNumber, new String(record.data)))
  }

  private def reread(range: ShardRange): Vector[Record] =
    new ShardRangeReader(
      producer.stream,
      kinesis,
      settings,
      clock,
      () => random.nextDouble(),
      () => false
    )
      .records(range)
      .toVector

  private final class Driver {
    val coordinator = new FetchCoordinator(10.seconds)
  }

  /** The fetch service without its threads: each piece of work happens in the order the seed says. */
  private final class Executor(id: String) {
    val buffer = new PageBuffer(settings.bufferBytes)
    private val fetchers: ShardFetchers = new ShardFetchers(buffer, fetcher)
    private val unsent = mutable.ArrayBuffer.empty[FetchReport]
    private var known = 0L

    override def toString: String =
      s"$id (${buffer.bytes} B of ${buffer.shards}: ${fetchers.all.map(_.shard)})"

    def work(): Unit = {
      heartbeat()
      random.shuffle(fetchers.all).foreach { fetcher =>
        clock.advance(random.nextInt(100).millis)
        fetcher.step(clock.now) match {
          case ShardFetcher.Fetched(report, _, _, _) => unsent += report
          case ShardFetcher.Fails(cause) => throw cause
          case ShardFetcher.Loses(loss) => throw loss
          case _ =>
        }
      }
      if (random.nextBoolean()) heartbeat()
    }

    private def fetcher(assignment: Assignment): ShardFetcher = new ShardFetcher(
      producer.stream,
      assignment,
      kinesis,
      buffer,
      settings,
      () => fetchers.size,
      () => random.nextDouble()
    )

    private def heartbeat(): Unit = {
      val status = FetchStatus(id, "localhost", unsent.toVector, FetchCounters.Zero, None, known)
      // The driver may hear it and the executor not learn so: then it says it again.
      val reply = driver.coordinator.heartbeat(status, clock.now)
      if (isCalm || random.nextInt(10) > 0) {
        unsent.clear()
        known = reply.version
        reply.plan.foreach(fetchers(_))
      }
    }
  }
}

/** @param text `key:number`, as the producer wrote it */
final case class Row(shard: ShardId, sequenceNumber: SequenceNumber, text: String) {
  def key: String = text.takeWhile(_ != ':')
  def number: Int = text.drop(key.length + 1).toInt
}

/** @param shards it read of */
final case class Batch(shards: Set[ShardId], rows: Seq[Row])
