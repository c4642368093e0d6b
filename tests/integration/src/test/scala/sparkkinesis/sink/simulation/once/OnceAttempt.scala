package sparkkinesis.sink.simulation.once

import sparkkinesis.client.Moment
import sparkkinesis.sink.once._
import sparkkinesis.sink.simulation.SimulatedWriter

/**
 * An attempt of a task: carries out what a [[TaskLoop]] decides. Skips the rows that are in the
 * stream, and writes the others.
 *
 * @param ask a question gets one answer, or `None` when it is lost
 */
private[once] final class OnceAttempt(
    world: OnceWorld,
    val identity: WriterIdentity,
    earlier: Array[Byte],
    ask: WriterAsk => (Option[WriterAnswer] => Unit) => Unit,
    ended: Option[Throwable] => Unit
) {
  import identity.{partition, task}
  import world._

  private val sender = new OnceSender(identity, terms, agenda.clock)
  private val loop = new TaskLoop(sender, partition, task, terms.patience, now)
  private var writer = Option.empty[SimulatedWriter]
  private var isOver = false

  private def now: Moment = agenda.clock.moment

  /** The process is gone. Its requests may still take effect. */
  def crash(): Unit = {
    isOver = true
    writer.foreach(_.kill())
  }

  def begin(): Unit = {
    tick()
    await(_.rowsInRun)(rows => write(new EarlierRows(new FoundRows(earlier), new FoundRows(rows))))
  }

  private def tick(): Unit = if (!isOver) {
    loop.tick(now).foreach { question =>
      val askedAt = now
      ask(question) { answer =>
        val heard = answer.toRight(new Exception("The answer was lost.")).map(Option(_))
        if (!isOver) loop.answered(question, askedAt, heard, now)
      }
    }
    loop.failure.foreach(refuse)
    agenda.after(100)(tick())
  }

  private def await[A](decided: TaskLoop => Option[A])(action: A => Unit): Unit = if (!isOver)
    decided(loop) match {
      case Some(it) => action(it)
      case None => agenda.after(20)(await(decided)(action))
    }

  private def write(before: EarlierRows): Unit = {
    val mine = rows(partition).iterator.filterNot(before.contains).map(target -> _)
    val made = new SimulatedWriter(
      agenda,
      new OnceWire(world, sender, recover),
      limits,
      options,
      Some(sender),
      random,
      mine,
      () => if (random.nextInt(4) > 0) 0L else 1L + random.nextInt(if (isCalm) 20 else 400),
      failure => if (!isOver) failure.fold(finish(before))(e => end(Some(e)))
    )
    writer = Some(made)
    made.run()
  }

  private def recover(shards: Seq[ShardInDoubt], answered: Set[Hash128] => Unit): Unit = {
    loop.recover(shards, now)
    await(_.recovered)(answered)
  }

  private def finish(before: EarlierRows): Unit = {
    before.checkEnd()
    val total = rows(partition).iterator.map(RowTotal.of).foldLeft(RowTotal.Zero)(_ + _)
    loop.finish(before.skipped, total, now)
    await(it => Some(()).filter(_ => it.isFinished))(_ => end(None))
  }

  private def refuse(e: Throwable): Unit = {
    e match {
      case it: OnceException => require(it.condition == OnceException.Fenced, it.getMessage)
      case _ => throw e
    }
    crash()
    ended(Some(e))
  }

  private def end(failure: Option[Throwable]): Unit = {
    isOver = true
    ended(failure)
  }
}
