package sparkkinesis.source.simulation

import scala.collection.mutable

import sparkkinesis.client.Moment
import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.model.{Position, StreamArn, StreamShard}
import sparkkinesis.shard.ShardRange
import sparkkinesis.source.checkpoint.OffsetCodec
import sparkkinesis.source.query.{Answer, Command, MicroBatchQuery}
import sparkkinesis.source.replay.LoggedBatch

/**
 * A query over the world. It does Spark's part step by step: logs the end of a batch, runs the
 * tasks (again), commits. Between two steps the driver may restart and executors may be lost.
 *
 * @param hasStopTime whether the trigger is `Trigger.AvailableNow`
 * @param streams number of streams that it names at first
 */
final class SimulatedQuery(world: World, hasStopTime: Boolean, streams: Int) {
  import world._

  private val log = mutable.ArrayBuffer.empty[String] // Spark's offset log: ends of batches
  private val moves = mutable.Map.empty[Int, String] // begins of batches after a move
  private val done = mutable.ArrayBuffer.empty[Batch]
  private var named = streams
  private var run: SimulatedDriver[MicroBatchQuery] = newDriver(false)
  private val initial: SourceOffset = calmly(run.begin())
  private var executors: SimulatedCluster = _
  private var isIdle = false // whether the last answer was that there is no batch

  def committed: Seq[Batch] = done.toSeq

  /** The committed batches, as the checkpoint has them. */
  def logged: Seq[LoggedBatch] = done.indices.map { batch =>
    LoggedBatch(batch.toLong, startOf(batch), endOf(batch))
  }

  /** Reads batches again, while calls fail. */
  def replay(batches: Seq[LoggedBatch]): Map[Long, Seq[Row]] =
    new SimulatedReplay(world, run).read(batches)

  /** The records of its streams that had arrived at the time. */
  def writtenBy(millis: Long): Map[String, Seq[Int]] =
    producers.take(named).flatMap(_.writtenBy(millis)).toMap

  private def newDriver(hasStopTime: Boolean): SimulatedDriver[MicroBatchQuery] =
    new SimulatedDriver(world, named, hasStopTime, new MicroBatchQuery(_, _), carryOut)

  /** Spark's part of what the driver wants. */
  private def carryOut(command: Command): Unit = command match {
    case Command.FindExecutors => run.tell((it, _) => it.executorsFound(executors.all))
    case Command.StartServices(on) =>
      executors.start(on.keySet)
      run.tell((it, _) => it.servicesStarted(None))
    case _ =>
  }

  /** The stop time of the current run. */
  def stopAtMillis: Option[Long] = run.settings.stopAtMillis

  /** Shards of the current run that the watch added because no batch would have read them. */
  def lostRanges: Long = run.query.streams.lostRanges

  override def toString: String = s"at ${OffsetCodec.encode(lastEnd)} with " +
    s"${report.frontiers}, ${run.settings}, and $executors"

  /**
   * Starts the driver again, with other executors. Runs a batch again that was logged but not
   * committed.
   *
   * @throws SourceException if records may have expired unread
   */
  def start(): Unit = {
    run = newDriver(hasStopTime)
    executors = new SimulatedCluster(world, run)
    isIdle = false
    if (log.size > done.size) finish(log.size - 1, mayFail = false)
    if (lastEnd.streams.size < named) nameAnew()
  }

  /**
   * A query from `latest` does not read records from before it named the stream. It does not name
   * one while the listing hides a reshard: `latest` in a shard that has ended is the beginning of
   * its children.
   */
  private def nameAnew(): Unit = {
    world.settle()
    ask(lastEnd): Unit
    run.finishCalls()
    if (world.start == Position.Latest)
      producers.slice(lastEnd.streams.size, named).foreach(_.forget())
    world.passChoice()
  }

  /** Starts the query again with all streams. */
  def addStreams(): Unit = {
    named = producers.size
    start()
  }

  /**
   * Starts the query from the end of an earlier batch. Later batches are removed from the
   * checkpoint, except one that Spark runs again: it must return the same rows.
   */
  def goBack(): Unit = {
    val all = (0 to done.size).filter(startOf(_).streams.size == named)
    if (all.nonEmpty) {
      val batch = all(random.nextInt(all.size))
      val isRunAgain = batch < done.size && random.nextBoolean()
      val before = done.lift(batch)
      done.dropRightInPlace(done.size - batch)
      log.dropRightInPlace(log.size - batch - (if (isRunAgain) 1 else 0))
      start()
      if (isRunAgain)
        require(before.contains(done(batch)), s"batch $batch was $before, again: ${done(batch)}")
    }
  }

  /** Moves the query back to the beginning of an earlier batch. The next batch has a new number. */
  def moveBack(): Unit = {
    val all = done.indices.map(startOf).filter(_.streams.size == named)
    if (all.nonEmpty) moves(log.size) = OffsetCodec.encode(all(random.nextInt(all.size)))
    start()
  }

  def addExecutor(): Unit = executors.add()

  def loseExecutor(): Unit = executors.lose()

  def executorsWork(): Unit = executors.work()

  def suspendDriver(): Unit = executors.suspendDriver()

  /** @return whether it planned a batch */
  def runBatch(mayFail: Boolean): Boolean = {
    val from = lastEnd
    val answer = ask(from)
    isIdle = false
    answer match {
      case Answer.Ready(end) if end eq from =>
        isIdle = true
        false
      case Answer.Ready(end) =>
        log += OffsetCodec.encode(end)
        if (mayFail && random.nextInt(10) == 0) start() else finish(log.size - 1, mayFail)
        true
      case Answer.Wait(until) =>
        require(!until.isAfter(clock.steady.plusSeconds(10)), s"it waits until $until")
        false
      case Answer.Fail(cause) => throw cause
    }
  }

  private def ask(from: SourceOffset): Answer[SourceOffset] =
    run.tell(_.asked(from, run.settings.limits, _))

  private def report = run.query.report(clock.moment)

  /** Whether batches have read all that the executors have seen, up to the tip of each shard. */
  def isAtTip: Boolean = isIdle && {
    val seen = report.frontiers
    lastEnd.readable.keys.forall {
      // 1 after repeated events, which do not say how far the shard is behind.
      seen.get(_).exists(it => it.marks.isEmpty && it.millisBehindLatest <= 1)
    }
  }

  /** Whether a run with a stop time is over, and Spark would end the query. */
  def isOver: Boolean = isIdle && lastEnd.streams.size == named

  private def startOf(batch: Int): SourceOffset =
    moves.get(batch).fold(if (batch == 0) initial else endOf(batch - 1))(OffsetCodec.decode)

  private def endOf(batch: Int): SourceOffset = OffsetCodec.decode(log(batch))

  private def lastEnd: SourceOffset = startOf(log.size)

  private def finish(batch: Int, mayFail: Boolean): Unit = {
    val (from, end) = (startOf(batch), endOf(batch))
    def plan(): Seq[ShardRange] = {
      val planned: Moment => Seq[ShardRange] =
        run.query.tasks(from, end, slots = 4, waitEnd, _).flatMap(_._2).sortBy(_.shard)
      run.tell((_, now) => planned(now))
    }
    val ranges = plan()
    val tasks = new SimulatedTasks(world, run, executors)
    val rows = ranges.flatMap(tasks.read)
    if (mayFail && random.nextInt(4) == 0) {
      executorsWork()
      require(plan() == ranges, s"batch $batch was planned again, with other ranges")
      val again = ranges.flatMap(tasks.read)
      require(
        rows.map(_.text) == again.map(_.text),
        s"another attempt of batch $batch returned other rows"
      )
    }
    done += Batch(from.streams.keySet.toSet, ranges.map(_.shard).toSet, rows)
    if (random.nextInt(4) > 0) run.tell(_.done(_)) // Spark asks for metrics
    if (random.nextInt(4) > 0) run.tell(_.committed(end, _))
  }

  private def waitEnd = clock.moment.elapsed
}

/** @param text `key:number`, which the producer wrote */
final case class Row(shard: StreamShard, text: String) {
  def key: String = text.takeWhile(_ != ':')
  def number: Int = text.drop(key.length + 1).toInt
}

/**
 * @param streams that the query read when it planned the batch
 * @param shards from which it read
 */
final case class Batch(streams: Set[StreamArn], shards: Set[StreamShard], rows: Seq[Row])
