package sparkkinesis.source.simulation

import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.mutable
import scala.concurrent.duration._

import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.model.{PackedRecords, Record, StreamShard}
import sparkkinesis.source.checkpoint.OffsetCodec
import sparkkinesis.source.plan.BatchPlanner
import sparkkinesis.source.position.StartingPosition
import sparkkinesis.source.protocol.{Frontier, ShardRange}
import sparkkinesis.source.replay.ShardRangeReader
import sparkkinesis.spark.read.RecordRow

/**
 * A query over the world: what Spark does around the source is done here, step by step: log the end,
 * run the tasks (again), commit. The driver may restart and executors be lost between any two steps.
 *
 * @param hasStopTime whether each run is one of `Trigger.AvailableNow`
 * @param streams how many it names at first
 */
final class SimulatedQuery(world: World, hasStopTime: Boolean, streams: Int) {
  import world._

  private val log = mutable.ArrayBuffer.empty[String] // Spark's offset log: ends of batches
  private val done = mutable.ArrayBuffer.empty[Batch]
  private val executors = mutable.Map.empty[String, SimulatedExecutor]
  private var started = 0
  private var named = streams
  private val initial: SourceOffset = calmly(new SimulatedDriver(world, named, false).begin())
  private var run: SimulatedDriver = _

  def committed: Seq[Batch] = done.toSeq

  /** What had arrived at the time, in the streams it names. */
  def writtenBy(millis: Long): Map[String, Seq[Int]] =
    producers.take(named).flatMap(_.writtenBy(millis)).toMap

  /** Of the current run. */
  def stopAtMillis: Option[Long] = run.settings.stopAtMillis

  /** Shards of the current run that were taken up though nobody had looked after them. */
  def lostRanges: Long = run.lostRanges

  override def toString: String = s"at ${OffsetCodec.encode(lastEnd)} with " +
    s"${run.coordinator.frontiers}, ${run.settings}, and ${executors.values.mkString(", ")}"

  /**
   * The driver begins anew, with other executors. A batch that was logged and not committed is run
   * again, with the same ends.
   *
   * @throws SourceException where records may have been lost meanwhile
   */
  def start(): Unit = {
    run = new SimulatedDriver(world, named, hasStopTime)
    executors.clear()
    addExecutor()
    val isPending = log.size > done.size
    calmly(run.streams.check(if (isPending) startOf(log.size - 1) else lastEnd))
    if (isPending) finish(log.size - 1, mayFail = false)
    if (lastEnd.streams.size < named) nameAnew()
  }

  /** A query that reads from `latest` does not read what came before a stream was named. */
  private def nameAnew(): Unit = {
    calmly(run.streams.joined(lastEnd)): Unit
    if (world.start == StartingPosition.Latest)
      producers.slice(lastEnd.streams.size, named).foreach(_.forget())
    // What arrives in the same millisecond may or may not be read.
    clock.advance(1.milli)
  }

  /**
   * The query is started again, and names all streams. Not while a reshard is still hidden: `latest` in a
   * shard that has ended is the beginning of its children.
   */
  def addStreams(): Unit = {
    clock.advance(listLag + 1.second)
    named = producers.size
    start()
  }

  /**
   * The query is started from an earlier batch's end: what it read since is forgotten, or was read by a
   * batch that Spark runs again, and then is the same.
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

  def addExecutor(): Unit = if (executors.size < 3) {
    started += 1
    val id = s"executor-$started"
    executors.update(
      id,
      new SimulatedExecutor(
        id,
        run.clients,
        run.coordinator,
        run.settings,
        clock,
        random,
        () => isCalm
      )
    )
  }

  def loseExecutor(): Unit = executors.keys.toSeq.sorted.headOption.foreach { id =>
    executors.remove(id)
    // The driver may learn of it at once, or by silence.
    if (random.nextBoolean()) run.coordinator.executorLost(id, clock.now)
    if (executors.isEmpty) addExecutor()
  }

  def executorsWork(): Unit = executors.toSeq.sortBy(_._1).foreach(_._2.work())

  /** @return whether there was anything to plan */
  def runBatch(mayFail: Boolean): Boolean = {
    val from = lastEnd
    run.coordinator.advance(from, from, clock.now)
    run.look(from)
    val joined = calmly(run.streams.joined(from))
    val end =
      if (joined eq from) nextEnd(from)
      else run.repaired(BatchPlanner.end(joined, due(run.coordinator.frontiers), run.limits))
    if (end ne from) {
      log += OffsetCodec.encode(end)
      if (mayFail && random.nextInt(10) == 0) start()
      else finish(log.size - 1, mayFail)
    }
    end ne from
  }

  /** Whether a run with a stop time is over, and Spark would end the query. */
  def isOver: Boolean =
    lastEnd.streams.size == named &&
      stopAtMillis.exists(BatchPlanner.isDone(lastEnd, run.coordinator.frontiers, _)) &&
      (nextEnd(lastEnd) == lastEnd)

  private def nextEnd(from: SourceOffset): SourceOffset = {
    val all = run.coordinator.frontiers
    val end = run.repaired(BatchPlanner.end(from, due(all), run.limits))
    val isIdle = stopAtMillis.forall(BatchPlanner.isDone(from, all, _))
    if ((end ne from) || !isIdle) end
    else calmly(BatchPlanner.confirmed(from, due(all), run.streams.confirmationPeriod))
  }

  private def due(all: Map[StreamShard, Frontier]): Map[StreamShard, Frontier] =
    stopAtMillis.fold(all)(Frontier.until(all, _))

  private def startOf(batch: Int): SourceOffset =
    if (batch == 0) initial else OffsetCodec.decode(log(batch - 1))

  private def lastEnd: SourceOffset = startOf(log.size)

  private def finish(batch: Int, mayFail: Boolean): Unit = {
    val (from, end) = (startOf(batch), startOf(batch + 1))
    val ranges = BatchPlanner.ranges(from, end)
    run.coordinator.advance(from, end, clock.now)
    val rows = ranges.flatMap(read)
    if (mayFail && random.nextInt(4) == 0) {
      executorsWork()
      val again = ranges.flatMap(read)
      require(rows.map(_.text) == again.map(_.text), s"batch $batch read differently again")
    }
    done += Batch(ranges.map(_.shard).toSet, rows)
  }

  /** From the pages of the executor that should have them, of any other one, or from Kinesis again. */
  private def read(range: ShardRange): Seq[Row] = {
    val preferred = run.coordinator.location(range.shard).map(_._2).flatMap(executors.get)
    val others = executors.toSeq.sortBy(_._1).map(_._2)
    val executor =
      if (random.nextInt(5) == 0) others(random.nextInt(others.size))
      else preferred.getOrElse(others.head)
    val buffered = executor.buffer.pages(range).map(_.flatten.toVector)
    val records = buffered.getOrElse(reread(range))
    if (buffered.nonEmpty && random.nextInt(3) == 0)
      require(
        reread(range).map(_.sequenceNumber) == records.map(_.sequenceNumber),
        s"pages of $range differ"
      )
    rowsOf(range.shard, records)
  }

  /** As tasks make them. */
  private def rowsOf(shard: StreamShard, records: Vector[Record]): Vector[Row] = {
    val row = new RecordRow(deaggregate = true)
    row.read(shard, PackedRecords(records))
    Iterator
      .continually(row)
      .takeWhile(_.next())
      .map(row => Row(shard, new String(row.getBinary(DataColumn), UTF_8)))
      .toVector
  }

  private def reread(range: ShardRange): Vector[Record] =
    new ShardRangeReader(
      run.clients(range.shard.stream),
      run.settings,
      clock,
      () => random.nextDouble(),
      () => false
    ).pages(range).flatten.toVector

  private val DataColumn = RecordRow.Schema.fieldIndex("data")
}

/** @param text `key:number`, as the producer wrote it */
final case class Row(shard: StreamShard, text: String) {
  def key: String = text.takeWhile(_ != ':')
  def number: Int = text.drop(key.length + 1).toInt
}

/** @param shards it read of */
final case class Batch(shards: Set[StreamShard], rows: Seq[Row])
