package sparkkinesis.sink.simulation.once

import java.time.Instant

import sparkkinesis.shard.StreamClient
import sparkkinesis.sink.once._

/**
 * One run of the batch: a driver and its tasks. A driver that is gone answers nothing. A driver
 * that is cut off goes on, although a later run has begun.
 */
private[once] final class OnceRun(world: OnceWorld, number: Long, committed: () => Unit) {
  import world._

  private var isGone = false
  private var attempts = 0L
  private var all = Vector.empty[OnceAttempt]
  private var live = Map.empty[Int, OnceAttempt]
  private var isReading = false
  private var finished = Set.empty[Int]
  private var session = Option.empty[WriteSession]
  private var earlier = Array.emptyByteArray
  private val restless = new RestlessKinesis(world)
  private val reader = new ReadBack(
    StreamClient(stream, restless),
    kinesis.describeStream(stream),
    firstAt.minusMillis(terms.margin.toMillis),
    restless.clock,
    atATime = 1
  )

  /** Logs the attempt; a later run waits until earlier ones are silent. */
  def begin(): Unit = {
    newestRun = number
    val start = agenda.now
    if (number == 0) startTasks(start)
    else {
      features += "repeated batch"
      agenda.after(terms.silence.toMillis) {
        read(_.run < number, firstAt) { found =>
          earlier = SortedHashes.of(found.map(_.rows))
          startTasks(start)
        }
      }
    }
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
  def replace(): Unit = if (!isGone && session.nonEmpty && live.nonEmpty) {
    val partition = live.keys.toVector.sorted.apply(random.nextInt(live.size))
    if (random.nextBoolean()) live(partition).crash() else features += "two attempts at once"
    features += "repeated task"
    agenda.after(latency())(attempt(partition))
  }

  private def startTasks(start: Long): Unit = {
    session = Some(new WriteSession(number, terms, start))
    tick()
    (0 until partitions).foreach(partition => agenda.after(latency())(attempt(partition)))
  }

  private def tick(): Unit = if (!isGone) {
    val at = agenda.now
    agenda.after(latency()) {
      session.foreach { it =>
        if (newestRun == number) it.newest(at)
        else it.end(OnceException.fenced("a later run began"))
      }
    }
    if (!isReading) session.flatMap(_.due(at)).foreach { pass =>
      isReading = true
      read(pass.needs, Instant.ofEpochMilli(pass.since)) { found =>
        agenda.after(latency()) {
          isReading = false
          session.foreach(_.found(pass, found))
        }
      }
    }
    agenda.after(100)(tick())
  }

  private def read(accepts: WriterIdentity => Boolean, since: Instant)(
      done: Seq[FoundAggregate] => Unit
  ): Unit =
    if (!isGone)
      try {
        restless.begin()
        done(reader.read(accepts, since.minusMillis(terms.margin.toMillis)))
      } catch {
        case pause: Paused => agenda.after(pause.duration.toMillis)(read(accepts, since)(done))
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
    val identity = WriterIdentity("query", 7, "incarnation", number, partition, attempts)
    val made = new OnceAttempt(
      world,
      identity,
      earlier,
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
    session.foreach(_.checkEnd(earlier.length.toLong / Hash128.Bytes))
    isGone = true
    outlive()
    committed()
  }

  /** Questions and answers get lost. */
  private def ask(question: WriterAsk)(answered: Option[WriterAnswer] => Unit): Unit = {
    val isLost = fails()
    agenda.after(latency()) {
      val answer =
        if (isGone || isLost && random.nextBoolean()) None
        else session.map(_.answer(question, agenda.now))
      agenda.after(latency())(answered(if (isLost) None else answer))
    }
  }
}
