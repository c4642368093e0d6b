package sparkkinesis.source.simulation

import scala.concurrent.duration._

import sparkkinesis.Steps
import sparkkinesis.model.Position
import sparkkinesis.shard.SourceException

/**
 * The life of a query, by its seed: producers write and reshard, calls fail, executors join and
 * leave, the driver restarts.
 */
final class History(seed: Long, failOnDataLoss: Boolean = true) {
  val world = new World(seed, failOnDataLoss)
  import world._

  /** Removes the records that a query from `latest` does not read. */
  private def begin(hasStopTime: Boolean): SimulatedQuery = {
    for (_ <- 0 until Steps(random.nextInt(8))) producer.actAtRandom()
    world.settle()
    val streams = 1 + random.nextInt(producers.size)
    val query = new SimulatedQuery(world, hasStopTime, streams)
    if (world.start == Position.Latest) producers.take(streams).foreach(_.forget())
    world.passChoice()
    query.start()
    unleash()
    if (random.nextBoolean()) query.addExecutor()
    query
  }

  /** Runs one query until it has read all records. */
  def continuous(): SimulatedQuery = {
    val query = begin(hasStopTime = false)
    for (_ <- 0 until Steps(25 + random.nextInt(75))) act(query, mayGoBack = true)
    calmly(query.addStreams())
    for (_ <- 0 until Steps(25 + random.nextInt(75))) act(query, mayGoBack = true)
    drain(query)
    query
  }

  /** Like `continuous`. Then the query is moved back, some times, and reads all records again. */
  def movedBack(): SimulatedQuery = {
    val query = continuous()
    for (_ <- 0 to random.nextInt(3)) {
      query.moveBack()
      unleash()
      for (_ <- 0 until Steps(random.nextInt(40))) act(query)
      drain(query)
    }
    query
  }

  /**
   * Runs with `Trigger.AvailableNow`, one after the other, while producers write.
   *
   * @param checkEnd called after each run, with its stop time
   */
  def availableNow(checkEnd: (SimulatedQuery, Long) => Unit): SimulatedQuery = {
    val query = begin(hasStopTime = true)
    for (run <- 0 until 2 + random.nextInt(4)) {
      if (run == 1) calmly(query.addStreams()) else if (run > 0) query.start()
      unleash()
      runToEnd(query)
      query.stopAtMillis.foreach(checkEnd(query, _))
      for (_ <- 0 until random.nextInt(5)) calmly(producer.actAtRandom())
      clock.advance(random.nextInt(7200).seconds)
    }
    query
  }

  /** Stops the query once, for so long that records may expire, and continues. */
  def stopped(): Stopped = {
    val query = begin(hasStopTime = false)
    calmly(query.addStreams())
    for (_ <- 0 until Steps(random.nextInt(60))) act(query)
    val stop = (1 + random.nextInt(50)).hours
    val resumed = clock.now.plusMillis(stop.toMillis)
    while (clock.now.isBefore(resumed)) {
      if (random.nextInt(4) == 0) calmly(producer.actAtRandom())
      clock.advance((1 + random.nextInt(5)).hours)
    }
    val loss = reportedLoss {
      query.start()
      for (_ <- 0 until Steps(random.nextInt(60))) act(query)
      drain(query)
    }
    Stopped(query, stop, loss)
  }

  /**
   * Reads for most of an hour while records expire as fast as the query reads them.
   *
   * @return the reported loss, if any
   */
  def overtaken(): (SimulatedQuery, Option[SourceException]) = {
    val query = begin(hasStopTime = false)
    for (_ <- 0 until Steps(random.nextInt(60))) act(query)
    soothe()
    query.start()
    overtake()
    val loss = reportedLoss {
      for (_ <- 0 until 100) {
        clock.advance(30.seconds)
        query.executorsWork()
        query.runBatch(mayFail = false)
      }
    }
    (query, loss)
  }

  /** The data loss that ends the query, if there is one. */
  private def reportedLoss(action: => Unit): Option[SourceException] =
    try {
      action
      None
    } catch {
      case loss: SourceException if loss.condition == "KINESIS_DATA_LOSS" =>
        soothe()
        Some(loss)
    }

  private def act(query: SimulatedQuery, mayGoBack: Boolean = false): Unit = {
    rivalReads()
    if (hardships.nextInt(30) == 0) query.suspendDriver()
    random.nextInt(20) match {
      case 0 | 1 | 2 | 3 => calmly(producer.actAtRandom())
      case 4 => clock.advance(random.nextInt(400).seconds)
      case 5 => if (mayGoBack && random.nextBoolean()) query.goBack() else query.start()
      case 6 => query.loseExecutor()
      case 7 => query.addExecutor()
      case 8 | 9 | 10 => query.runBatch(mayFail = true): Unit
      case _ => query.executorsWork()
    }
  }

  /** Runs without faults until the query has been at the tip of all shards for many rounds. */
  private def drain(query: SimulatedQuery): Unit = {
    soothe()
    var (rounds, quiet) = (0, 0)
    while (rounds < MaxRounds && quiet < QuietRounds) {
      clock.advance(1.second)
      query.executorsWork()
      if (query.runBatch(mayFail = false) || !query.isAtTip) quiet = 0 else quiet += 1
      rounds += 1
    }
    require(quiet == QuietRounds, s"never ends: $query")
  }

  private def runToEnd(query: SimulatedQuery): Unit = {
    var (rounds, quiet) = (0, 0)
    while (rounds < MaxRounds && quiet < QuietRounds && !query.isOver) {
      // Without faults it must continue, and end.
      if (rounds > DisturbedRounds) soothe() else disturb(query)
      query.executorsWork()
      val hasGoneOn = query.runBatch(mayFail = !isCalm)
      quiet = if (hasGoneOn || !isCalm || !query.isAtTip) 0 else quiet + 1
      clock.advance(1.second)
      rounds += 1
    }
    require(query.isOver, s"never ends: $query")
  }

  private def disturb(query: SimulatedQuery): Unit = {
    rivalReads()
    random.nextInt(16) match {
      case 0 => calmly(producer.actAtRandom())
      case 1 => query.loseExecutor()
      case 2 => query.addExecutor()
      case 3 if random.nextInt(10) == 0 => query.start()
      case _ =>
    }
  }

  private val MaxRounds = 2000

  /**
   * Rounds of a second: longer than a lost executor keeps its shards, and than an executor waits
   * for the quota of a shard that it shares with another consumer.
   */
  private val QuietRounds = quietSeconds
  private val DisturbedRounds = 400
}

/** @param loss the reported data loss, if any */
final case class Stopped(query: SimulatedQuery, stop: FiniteDuration, loss: Option[SourceException])
