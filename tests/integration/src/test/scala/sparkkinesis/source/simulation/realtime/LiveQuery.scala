package sparkkinesis.source.simulation.realtime

import scala.concurrent.duration._

import sparkkinesis.model.Position
import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.shard.SourceException
import sparkkinesis.source.checkpoint.OffsetCodec
import sparkkinesis.source.query.Answer
import sparkkinesis.source.simulation.{Batch, Row, World}

/**
 * A query in real-time mode. It does Spark's part step by step: begins a batch, runs its tasks
 * until they end, logs where they have ended.
 *
 * @param streams number of streams that it names at first
 */
final class LiveQuery(world: World, streams: Int) {
  import world._

  private var named = streams
  private var logged = calmly(OffsetCodec.encode(new LiveDriver(world, named, () => 1).begin()))
  private val ledger = new LiveLedger
  private var cluster = new LiveCluster(world, named)
  private var nextBatchAt = clock.now
  private var isStopping = false
  private var longest: FiniteDuration = 10.minutes // of a batch
  private var hasClock = true // whether Spark's clock ends batches
  private var failures = 0

  /** Batches that were logged, without the rows that came again. */
  def committed: Seq[Batch] = ledger.batches

  /** How often Spark started the query again because it had failed. */
  def failed: Int = failures

  /** Number of rows in those batches. */
  def size: Int = ledger.size

  /** Number of rows that were handed out, without those of attempts that have failed. */
  def found: Int = ledger.size + cluster.current.fold(0)(_.rows.size)

  override def toString: String = s"at $logged with $cluster"

  /** Starts the driver again, with other executors. */
  def start(): Unit = {
    isStopping = false
    ledger.restarted()
    cluster = new LiveCluster(world, named)
    if (end.streams.size < named) nameAnew()
  }

  private def driver = cluster.driver

  private def end: SourceOffset = OffsetCodec.decode(logged)

  /** See [[SimulatedQuery]]. */
  private def nameAnew(): Unit = {
    world.settle()
    driver.began(end): Unit
    driver.finishCalls()
    if (world.start == Position.Latest) producers.slice(end.streams.size, named).foreach(_.forget())
    world.passChoice()
  }

  def addStreams(): Unit = {
    named = producers.size
    start()
  }

  /** Something happens to the tasks or to their executors. */
  def disturb(): Unit = random.nextInt(10) match {
    case 0 => cluster.lose()
    case 1 => cluster.add()
    case 2 => cluster.occupySlots()
    case 3 => cluster.abandon()
    case 4 => cluster.current.foreach(_.fail())
    case 5 => if (random.nextInt(3) == 0) cluster.any.newService(): Unit
    case 6 => if (random.nextInt(5) == 0) cluster.any.failForGood()
    case 7 => if (random.nextInt(3) == 0) suspend()
    case 8 =>
      if (cluster.current.isEmpty) nextBatchAt = clock.now.plusMillis(random.nextInt(90000).toLong)
    case _ => longest = if (random.nextBoolean()) 2.seconds else 10.minutes
  }

  /** From now on, no batch begins late, and the clock of Spark ends none. */
  def settle(): Unit = {
    nextBatchAt = clock.now
    hasClock = false
  }

  /** The driver's process does not run for a while. */
  private def suspend(): Unit = {
    driver.suspend()
    for (_ <- 0 until 1 + random.nextInt(12)) cluster.step(random.nextInt(10000).millis)
    driver.resume()
  }

  /** Some time passes, and all that run do something. */
  def step(passed: FiniteDuration): Unit = {
    if (cluster.current.isEmpty && !isStopping && !clock.now.isBefore(nextBatchAt)) begin()
    cluster.step(passed)
    cluster.current.foreach { job =>
      if (job.hasFailed) fail() else if (job.isDone) finish(job)
    }
  }

  private def begin(): Unit = {
    val from = end
    driver.began(from) match {
      case Answer.Ready(partitions) =>
        val length = if (hasClock) random.nextInt(longest.toMillis.toInt).millis else 1.day
        val endsAt = clock.now.plusMillis(length.toMillis)
        cluster.run(new LiveJob(partitions, endsAt, world, cluster, handedOut))
      case Answer.Fail(cause: SourceException) if cause.condition == LiveService.Refusal => fail()
      case Answer.Fail(cause) => throw cause
      case _: Answer.Wait =>
    }
  }

  /** Spark starts the query again. */
  private def fail(): Unit = {
    failures += 1
    start()
  }

  private def handedOut(row: Row): Unit =
    require(!ledger.has(row), s"$row comes again, although Spark has logged its batch")

  private def finish(job: LiveJob): Unit = {
    val from = end
    logged = OffsetCodec.encode(driver.ended(random.shuffle(job.ends)))
    ledger.logged(
      Batch(from.streams.keySet.toSet, from.readable.keySet.toSet, job.rows),
      job.ends.flatMap(_.ends)
    )
    cluster.finish()
    nextBatchAt = clock.now.plusMillis(50L + random.nextInt(100))
  }

  /** A planned stop. */
  def stop(): Unit = {
    isStopping = true
    driver.requestStop()
    await("the last batch does not end")(cluster.current.isEmpty)
    driver.stop()
    await("an executor reads on after the end")(cluster.isIdle)
  }

  private def await(problem: String)(isOver: => Boolean): Unit = {
    var rounds = 0
    while (!isOver) {
      require(rounds < MostRounds, s"$problem: $this")
      step(200.millis)
      rounds += 1
    }
  }

  private def MostRounds = 100
}
