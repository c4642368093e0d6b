package sparkkinesis.sink.simulation

import scala.collection.mutable
import scala.concurrent.duration._

import sparkkinesis.model.{HashKey, PutEntry}
import sparkkinesis.sink.metrics.SinkCounter._
import sparkkinesis.sink.metrics.{SinkCounter, SinkMetrics}
import sparkkinesis.sink.rate.TargetStream
import sparkkinesis.sink.write.DeliveryTimeoutException

/**
 * One seeded history of a sink: tasks of one or two executors write their rows. Meanwhile the
 * service fails, throttles and reshards, and tasks are killed and run again from the start.
 */
final class SinkHistory(seed: Long) {
  val world = new SinkWorld(seed)
  import world._

  private val tasks = Vector.tabulate(setup.tasks)(new SimulatedTask(world, _))

  /** Runs it to its end. */
  def run(): SinkOutcome = {
    tasks.foreach(task => agenda.after(random.nextInt(1000).toLong)(task.start()))
    for (_ <- 0 until setup.reshards)
      sometime(shards(streams(random.nextInt(streams.size))).change())
    for (_ <- 0 until setup.kills) sometime(tasks(random.nextInt(tasks.size)).kill())
    if (setup.hasRival) rival()
    agenda.run(Bound)
    new SinkOutcome(world, tasks)
  }

  private val Bound = 2.hours
  private val RivalEnd = 8.seconds

  private def sometime(action: => Unit): Unit =
    agenda.after(random.nextInt(setup.calmAt).toLong)(action)

  /** Another program that writes as much as a shard accepts. */
  private def rival(): Unit = if (!isCalm && agenda.elapsed < RivalEnd.toMillis) {
    val (count, size) = if (random.nextBoolean()) (500, 1) else (100, 8000)
    val entry = PutEntry(s"rival-${random.nextInt(5)}", new Array[Byte](size), None)
    kinesis.putRecords(streams.head, Vector.fill(count)(entry))
    rivalRequests += 1
    agenda.after(random.nextInt(1000).toLong)(rival())
  }
}

/** A task: its rows, and its attempts to write them. */
private[simulation] final class SimulatedTask(world: SinkWorld, val number: Int) {
  import world._

  private val sizes = Vector.fill(setup.rowsOfTask)(setup.rowBytes())
  private val keys = Vector.fill(setup.rowsOfTask)(random.nextInt(setup.keysOfTask))
  private val hashKeys = Vector.fill(setup.keysOfTask)(
    Option.when(random.nextInt(4) == 0)(HashKey(BigInt(128, random.self)))
  )
  private val isBusy = random.nextInt(3) == 0
  private val targets = executors(random.nextInt(executors.size))
  private var attempts = Vector.empty[SimulatedWriter]
  private var lingerings = Vector.empty[LingerLaw]

  var committed: Option[Int] = None

  /** The rows that the committed attempt gave up, and whether they may be in the stream. */
  var deadLetters: Map[Row, Boolean] = Map.empty

  /** Number of rows per key. */
  val rowsOfKeys: Map[Int, Int] = keys.groupMapReduce(identity)(_ => 1)(_ + _)

  def streamOf(key: Int): Int = key % streams.size

  def attemptsMade: Int = attempts.size

  /** Number of rows for which [[LingerLaw]] was checked. */
  def judged: Int = lingerings.map(_.judged).sum

  def start(): Unit = {
    val attempt = attempts.size
    val rows = rowsOf(attempt)
    val put = rows.iterator
    lazy val lingering = new LingerLaw(setup, agenda, () => isTroubled(writer))
    lazy val laws = new SendLaws(setup, lingering)
    lazy val wire = new FaultyWire(world, laws)
    lazy val writer: SimulatedWriter = new SimulatedWriter(
      agenda,
      wire,
      setup.limits,
      setup.options,
      None,
      random,
      entries(rows),
      () => {
        laws.buffers(writer.bufferedRecords, writer.bufferedBytes)
        lingering.put(put.next())
        pause()
      },
      ended(attempt, wire, laws)
    )
    attempts :+= writer
    lingerings :+= lingering
    writer.run()
  }

  /** Requests in flight may still take effect, even while the next attempt runs. */
  def kill(): Unit = if (attempts.lastOption.exists(_.isRunning)) {
    attempts.last.kill()
    again()
  }

  private def again(): Unit = agenda.after(random.nextInt(2000).toLong)(start())

  private def rowsOf(attempt: Int): Vector[Row] = {
    val counts = mutable.Map.empty[Int, Int].withDefaultValue(0)
    keys.map { key =>
      counts(key) += 1
      Row(number, attempt, key, counts(key) - 1)
    }
  }

  private def entries(rows: Vector[Row]): Iterator[(TargetStream, PutEntry)] =
    rows.iterator.zip(sizes.iterator).map { case (row, size) =>
      (targets(streamOf(row.key)), row.entry(size, hashKeys(row.key)))
    }

  private def isTroubled(writer: SimulatedWriter): Boolean = {
    val metrics = writer.metrics
    val failures = Seq(ThrottledRecords, FailedRecords, FailedRequests, MisplacedAggregates)
    failures.exists(metrics(_) > 0) || metrics.sleepMillis > 0 || !writer.isRunning
  }

  private def pause(): Long =
    if (isBusy || random.nextInt(8) > 0) 0L else 1L + random.nextInt(if (isCalm) 20 else 1500)

  private def ended(attempt: Int, wire: FaultyWire, laws: SendLaws)(
      failure: Option[Throwable]
  ): Unit = failure match {
    case Some(_: DeliveryTimeoutException) => again()
    case Some(e) => throw new IllegalArgumentException(s"a task failed: $e", e)
    case None =>
      committed = Some(attempt)
      val expired = attempts(attempt).takeExpired()
      deadLetters = expired.flatMap { it =>
        val (key, data) = (it.entry.partitionKey, it.entry.data)
        Row.parse(key, data, 0, data.length).map(_ -> it.mayBeWritten)
      }.toMap
      require(deadLetters.size == expired.size, "a row was given up twice")
      val both = laws.acknowledged.filter(deadLetters.contains)
      require(both.isEmpty, s"dead letters though acknowledged: $both")
      val open = rowsOf(attempt).toSet -- laws.acknowledged -- deadLetters.keys
      require(open.isEmpty, s"task $number committed, but these rows are not acknowledged: $open")
      require(attempts(attempt).bufferedBytes == 0, "bytes are buffered at the end")
      metricsAgree(attempts(attempt).metrics, wire.reported, laws.acknowledged.size)
  }

  private def metricsAgree(
      metrics: SinkMetrics,
      reported: FaultyWire.Reported,
      rows: Int
  ): Unit = {
    def same(counter: SinkCounter, expected: Long): Unit = {
      val counted = metrics(counter)
      require(counted == expected, s"$counter: counted $counted, not $expected")
    }
    same(RecordsWritten, rows.toLong)
    same(Requests, reported.requests)
    same(SentRecords, reported.records)
    same(ThrottledRecords, reported.throttled)
    same(FailedRecords, reported.failed)
    same(FailedRequests, reported.failedRequests)
    same(UnansweredRequests, reported.unanswered)
    same(MisplacedAggregates, reported.misplaced)
  }
}
