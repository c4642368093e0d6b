package sparkkinesis.simulation

import scala.collection.mutable
import scala.concurrent.duration._

import sparkkinesis.model._
import sparkkinesis.source._

/**
 * A query over the world: what Spark does around the source is done here, step by step: log the end,
 * run the tasks (again), commit. The driver may restart and executors be lost between any two steps.
 *
 * @param hasStopTime whether each run is one of `Trigger.AvailableNow`
 */
final class SimulatedQuery(world: World, hasStopTime: Boolean) {
  import world._

  private val log = mutable.ArrayBuffer.empty[String] // Spark's offset log: ends of batches
  private val done = mutable.ArrayBuffer.empty[Batch]
  private val executors = mutable.Map.empty[String, SimulatedExecutor]
  private var started = 0
  private val initial: SourceOffset = calmly(checkedStreams().begin())
  private var run: Run = _

  def committed: Seq[Batch] = done.toSeq

  /** Of the current run. */
  def stopAtMillis: Option[Long] = run.settings.stopAtMillis

  override def toString: String = s"at ${OffsetCodec.encode(lastEnd)} with " +
    s"${run.coordinator.frontiers}, ${run.settings}, and ${executors.values.mkString(", ")}"

  /**
   * The driver begins anew, with other executors. A batch that was logged and not committed is run
   * again, with the same ends.
   *
   * @throws SourceException where records may have been lost meanwhile
   */
  def start(): Unit = {
    run = new Run()
    executors.clear()
    addExecutor()
    val isPending = log.size > done.size
    calmly(run.streams.check(if (isPending) startOf(log.size - 1) else lastEnd))
    if (isPending) finish(log.size - 1, mayFail = false)
  }

  def addExecutor(): Unit = if (executors.size < 3) {
    started += 1
    val id = s"executor-$started"
    executors.update(
      id,
      new SimulatedExecutor(
        id,
        producer.stream,
        kinesis,
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
    val end = nextEnd(from)
    if (end ne from) {
      log += OffsetCodec.encode(end)
      if (mayFail && random.nextInt(10) == 0) start()
      else finish(log.size - 1, mayFail)
    }
    end ne from
  }

  /** Whether a run with a stop time is over, and Spark would end the query. */
  def isOver: Boolean =
    stopAtMillis.exists(BatchPlanner.isDone(lastEnd, run.coordinator.frontiers, _)) &&
      (nextEnd(lastEnd) == lastEnd)

  private def nextEnd(from: SourceOffset): SourceOffset = {
    val all = run.coordinator.frontiers
    val due = all.map { case (id, f) => id -> stopAtMillis.fold(f)(f.until) }
    val end = BatchPlanner.end(from, due, run.settings.limits)
    val isIdle = stopAtMillis.forall(BatchPlanner.isDone(from, all, _))
    if ((end ne from) || !isIdle) end
    else calmly(BatchPlanner.confirmed(from, due, run.streams.confirmationPeriod))
  }

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
    done += Batch(ranges.map(_.shard.shard).toSet, rows)
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
    records.map(record => Row(range.shard.shard, record.sequenceNumber, new String(record.data)))
  }

  private def reread(range: ShardRange): Vector[Record] =
    new ShardRangeReader(
      StreamClient(producer.stream, kinesis),
      run.settings,
      clock,
      () => random.nextDouble(),
      () => false
    ).pages(range).flatten.toVector

  private def checkedStreams(): CheckedStreams = {
    val stream = StreamClient(producer.stream, kinesis)
    val checked =
      new CheckedStream(
        stream,
        options.start,
        failOnDataLoss = true,
        clock,
        () => random.nextDouble()
      )
    new CheckedStreams(options, Seq(options.streams.head -> checked))
  }

  /** One life of the driver. */
  private final class Run {
    val coordinator = new FetchCoordinator(10.seconds)
    val streams: CheckedStreams = checkedStreams()
    val settings: FetchSettings = options.fetch.copy(
      stopAtMillis = Option.when(hasStopTime)(calmly(streams.now().toEpochMilli))
    )
    // What arrives in the same millisecond as the question may or may not be read.
    clock.advance(1.milli)
  }
}

/** @param text `key:number`, as the producer wrote it */
final case class Row(shard: ShardId, sequenceNumber: SequenceNumber, text: String) {
  def key: String = text.takeWhile(_ != ':')
  def number: Int = text.drop(key.length + 1).toInt
}

/** @param shards it read of */
final case class Batch(shards: Set[ShardId], rows: Seq[Row])
