package sparkkinesis.sink.simulation

import scala.collection.mutable
import scala.concurrent.duration._

import sparkkinesis.model.{HashKey, PutEntry}
import sparkkinesis.sink.SinkCounters
import sparkkinesis.sink.rate.TargetStream
import sparkkinesis.sink.write.DeliveryTimeoutException

/**
 * One seeded life of a sink: tasks of one or two executors write their rows, while the service fails,
 * throttles and reshards, and tasks are killed and run again from their beginning.
 */
final class SinkHistory(seed: Long) {
  val world = new SinkWorld(seed)
  import world._

  private val tasks = Vector.tabulate(setup.tasks)(new SimulatedTask(world, _))

  /** Lives it to its end. */
  def live(): SinkOutcome = {
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

  /** Another program that writes as much as a shard takes. */
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

  /** How many rows each key has. */
  val rowsOfKeys: Map[Int, Int] = keys.groupMapReduce(identity)(_ => 1)(_ + _)

  def streamOf(key: Int): Int = key % streams.size

  def attemptsMade: Int = attempts.size

  /** Rows of which it was looked at whether they lingered for too long. */
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
      random,
      entries(rows),
      () => {
        laws.buffers(writer.counters)
        lingering.put(put.next())
        pause()
      },
      ended(attempt, wire, laws)
    )
    attempts :+= writer
    lingerings :+= lingering
    writer.run()
  }

  /** What it has sent may still land, when it runs again, too. */
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
    import writer.counters._
    val failures = throttled + failed + failedRequests + misplaced
    failures > 0 || writer.sleep.nonEmpty || !writer.isRunning
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
      val rows = rowsOfKeys.values.sum
      val open = rows - laws.acknowledged.size
      require(open == 0, s"task $number committed though $open rows are not acknowledged")
      metricsAgree(attempts(attempt).counters, wire.told, rows)
  }

  private def metricsAgree(counted: SinkCounters, told: FaultyWire.Told, rows: Int): Unit = {
    val mine = counted.snapshot(None)
    def same(name: String, ours: Long, theirs: Long): Unit =
      require(ours == theirs, s"$name: counted $ours, not $theirs")
    same("records", mine.records, rows.toLong)
    same("buffered", mine.buffered, 0)
    same("in flight", mine.inFlight, 0)
    same("requests", mine.requests, told.requests)
    same("entries", mine.entries, told.entries)
    same("throttled", mine.throttled, told.throttled)
    same("failed", mine.failed, told.failed)
    same("failed requests", mine.failedRequests, told.failedRequests)
    same("unanswered", mine.unanswered, told.unanswered)
    same("misplaced", mine.misplaced, told.misplaced)
  }
}
