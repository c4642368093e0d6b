package sparkkinesis.source.simulation

import scala.collection.mutable

import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.model.{Position, StreamArn, StreamShard}
import sparkkinesis.source.checkpoint.OffsetCodec
import sparkkinesis.source.plan.{BatchPlanner, ShardSkew}
import sparkkinesis.source.protocol.Frontier
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
  private val initial: SourceOffset = calmly(new SimulatedDriver(world, named, false).begin())
  private var run: SimulatedDriver = _
  private var executors: SimulatedCluster = _

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

  /** The stop time of the current run. */
  def stopAtMillis: Option[Long] = run.settings.stopAtMillis

  /** Shards of the current run that the watch added because no batch would have read them. */
  def lostRanges: Long = run.lostRanges

  override def toString: String = s"at ${OffsetCodec.encode(lastEnd)} with " +
    s"${run.coordinator.frontiers}, ${run.settings}, and $executors"

  /**
   * Starts the driver again, with other executors. Runs a batch again that was logged but not
   * committed.
   *
   * @throws SourceException if records may have expired unread
   */
  def start(): Unit = {
    run = new SimulatedDriver(world, named, hasStopTime)
    executors = new SimulatedCluster(world, run)
    val isPending = log.size > done.size
    calmly(run.streams.check(if (isPending) startOf(log.size - 1) else lastEnd))
    if (isPending) finish(log.size - 1, mayFail = false)
    if (lastEnd.streams.size < named) nameAnew()
  }

  /**
   * A query from `latest` does not read records from before it named the stream. It does not name
   * one while the listing hides a reshard: `latest` in a shard that has ended is the beginning of
   * its children.
   */
  private def nameAnew(): Unit = {
    world.settle()
    calmly(run.streams.withJoined(lastEnd)): Unit
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
    run.coordinator.advance(from, from)
    run.look(from)
    val joined = calmly(run.streams.withJoined(from))
    val end =
      if (joined eq from) nextEnd(from)
      else planned(joined, run.coordinator.frontiers)
    if (end ne from) {
      log += OffsetCodec.encode(end)
      if (mayFail && random.nextInt(10) == 0) start()
      else finish(log.size - 1, mayFail)
    }
    end ne from
  }

  /** Whether batches have read all that the executors have seen, up to the tip of each shard. */
  def isAtTip: Boolean = BatchPlanner.isDone(lastEnd, run.coordinator.frontiers)

  /** Whether a run with a stop time is over, and Spark would end the query. */
  def isOver: Boolean =
    lastEnd.streams.size == named && isAtTip && (nextEnd(lastEnd) == lastEnd)

  private def nextEnd(from: SourceOffset): SourceOffset = {
    val all = run.coordinator.frontiers
    val end = planned(from, all)
    val isIdle = stopAtMillis.isEmpty || BatchPlanner.isDone(from, all)
    if ((end ne from) || !isIdle) end
    else calmly(BatchPlanner.confirmed(from, all, run.streams.confirmationPeriod))
  }

  private def planned(from: SourceOffset, all: Map[StreamShard, Frontier]): SourceOffset = {
    val skewed = run.settings.maxShardSkew.fold(all)(
      ShardSkew.limited(from, all, run.limits, _)
    )
    run.repaired(BatchPlanner.end(from, skewed, run.limits))
  }

  private def startOf(batch: Int): SourceOffset =
    moves.get(batch).fold(if (batch == 0) initial else endOf(batch - 1))(OffsetCodec.decode)

  private def endOf(batch: Int): SourceOffset = OffsetCodec.decode(log(batch))

  private def lastEnd: SourceOffset = startOf(log.size)

  private def finish(batch: Int, mayFail: Boolean): Unit = {
    val (from, end) = (startOf(batch), endOf(batch))
    val ranges = BatchPlanner.ranges(from, end)
    run.coordinator.advance(from, end)
    val tasks = new SimulatedTasks(world, run, executors)
    val rows = ranges.flatMap(tasks.read)
    if (mayFail && random.nextInt(4) == 0) {
      executorsWork()
      val again = ranges.flatMap(tasks.read)
      require(
        rows.map(_.text) == again.map(_.text),
        s"another attempt of batch $batch returned other rows"
      )
    }
    done += Batch(from.streams.keySet.toSet, ranges.map(_.shard).toSet, rows)
  }
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
