package sparkkinesis.sink.simulation.once

import sparkkinesis.client.Moment
import sparkkinesis.shard.StreamClient
import sparkkinesis.sink.once._

/**
 * One run of the batch: carries out what a [[DriverLoop]] decides, and starts the tasks as Spark
 * does. A driver that is gone answers nothing. A driver that is cut off goes on, although a later
 * run has begun.
 */
private[once] final class OnceRun(world: OnceWorld, number: Long, committed: () => Unit) {
  import world._

  private var isGone = false
  private var attempts = 0L
  private var all = Vector.empty[OnceAttempt]
  private var live = Map.empty[Int, OnceAttempt]
  private var hasTasks = false
  private var finished = Set.empty[Int]
  private val batch = WriterIdentity("query", 7, "incarnation", number, 0, 0)
  private val (begun, begunAt) = (agenda.clock.moment, agenda.clock.now)
  private lazy val loop = new DriverLoop(batch, firstAt, begun, begunAt, logged = now, terms)
  private val restless = new RestlessKinesis(world)
  private val reader = new ReadBack(
    StreamClient(stream, restless),
    kinesis.describeStream(stream),
    restless.clock,
    memory = 1 // it reads one shard at a time, in the thread of the simulation
  )

  private def now: Moment = agenda.clock.moment

  /** Logs the attempt, which may take long; a later run waits until earlier ones are silent. */
  def begin(): Unit = if (number < newestRun) crash() // it finds the other one in the log
  else if (!isGone) {
    newestRun = number
    if (number > 0) features += "repeated batch"
    tick()
  }

  /** The tasks end with the driver, or live on for a while. */
  def crash(): Unit = {
    isGone = true
    if (random.nextBoolean()) all.foreach(_.crash())
    else {
      features += "tasks without a driver"
      outlive()
    }
  }

  private def outlive(): Unit = agenda.after(20000)(all.foreach(_.crash()))

  /** An attempt of a partition ends, or goes on although the driver starts another. */
  def replace(): Unit = if (!isGone && hasTasks && live.nonEmpty) {
    val partition = live.keys.toVector.sorted.apply(random.nextInt(live.size))
    if (random.nextBoolean()) live(partition).crash() else features += "two attempts at once"
    features += "repeated task"
    agenda.after(latency())(attempt(partition))
  }

  private def tick(): Unit = if (!isGone) {
    loop.tick(now).foreach {
      case DriverLoop.Command.CheckLog =>
        val asked = now
        val isNewest = !isFenced
        agenda.after(latency())(loop.checked(Right(isNewest), asked, now))
      case DriverLoop.Command.Read(pass) => read(pass)
    }
    if (!hasTasks && loop.failure.isEmpty && loop.earlierRows.nonEmpty) startTasks()
    agenda.after(100)(tick())
  }

  private def startTasks(): Unit = {
    hasTasks = true
    (0 until partitions).foreach(partition => agenda.after(latency())(attempt(partition)))
  }

  private def read(pass: DriverLoop.Pass): Unit =
    if (!isGone)
      try {
        restless.begin()
        val found = new DriverLoop.Found(pass, reader.read(pass))
        agenda.after(latency())(loop.read(found))
      } catch {
        case pause: Paused => agenda.after(pause.duration.toMillis)(read(pass))
        case e: OnceException if e.condition == OnceException.ReadBackTooLate => fail()
      }

  /** The batch fails instead of guessing. */
  private def fail(): Unit = {
    features += "expired rows"
    if (!isFenced) isTooLate = true
    crash()
  }

  private def attempt(partition: Int): Unit = if (!isGone && !finished(partition)) {
    attempts += 1
    val identity = batch.copy(partition = partition, task = attempts)
    val made = new OnceAttempt(
      world,
      identity,
      loop.earlierRows.get,
      ask,
      end => if (live.get(partition).exists(_.identity == identity)) ended(partition, end)
    )
    live += partition -> made
    all :+= made
    made.begin()
  }

  private def ended(partition: Int, failure: Option[Throwable]): Unit = {
    live -= partition
    if (failure.isEmpty) {
      finished += partition
      if (finished.size == partitions && !isGone) commit()
    } else if (!isFenced) agenda.after(latency())(attempt(partition))
  }

  private def isFenced = newestRun != number

  private def commit(): Unit = if (!isFenced) {
    loop.checkEnd()
    isGone = true
    outlive()
    committed()
  }

  /** Questions and answers get lost. */
  private def ask(question: WriterAsk)(answered: Option[WriterAnswer] => Unit): Unit = {
    val isLost = fails()
    agenda.after(latency()) {
      val answer =
        if (isGone || isLost && random.nextBoolean()) None else Some(loop.asked(question, now))
      agenda.after(latency())(answered(if (isLost) None else answer))
    }
  }
}
