package sparkkinesis.sink.simulation.once

import java.time.Instant

import sparkkinesis.client.Moment
import sparkkinesis.sink.once.WriterAnswer._
import sparkkinesis.sink.once.WriterAsk._
import sparkkinesis.sink.once._
import sparkkinesis.sink.simulation.SimulatedWriter

/**
 * An attempt of a task. Asks for the right to send, skips the rows that are in the stream, writes
 * the others, and tells the driver that it has finished.
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

  private val sender = new OnceSender(identity, terms.acceptance, agenda.clock)
  private var writer = Option.empty[SimulatedWriter]
  private var isOver = false
  private var questions = 0L

  /** The process is gone. Its requests may still take effect. */
  def crash(): Unit = {
    isOver = true
    writer.foreach(_.kill())
  }

  def begin(): Unit = until(Hold(partition, task, isFirst = true)) {
    case (askedAt, Held(millis, rows)) =>
      hold(askedAt, millis)
      agenda.after(300)(renew())
      write(new EarlierRows(new FoundRows(earlier), new FoundRows(rows)))
  }

  private def hold(askedAt: Long, millis: Long): Unit = {
    val at = Instant.ofEpochMilli(askedAt)
    sender.hold(Moment(at, at), millis)
  }

  private def write(before: EarlierRows): Unit = {
    val mine = rows(partition).iterator.filterNot(before.contains).map(target -> _)
    val wire = new OnceWire(world, recover)
    val made = new SimulatedWriter(
      agenda,
      wire,
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

  private def finish(before: EarlierRows): Unit = {
    before.checkEnd()
    val total = rows(partition).iterator.map(RowTotal.of).foldLeft(RowTotal.Zero)(_ + _)
    until(Finish(partition, task, before.skipped, total)) { case (_, Finished) => end(None) }
  }

  private def recover(answered: Set[Hash128] => Unit): Unit = {
    questions += 1
    until(Recover(partition, task, questions)) { case (_, Recovered(digests)) =>
      answered(Hash128.decode(digests).toSet)
    }
  }

  private def renew(): Unit = if (!isOver) {
    val askedAt = agenda.now
    ask(Hold(partition, task, isFirst = false)) {
      case Some(Held(millis, _)) => hold(askedAt, millis)
      case Some(refused: Refused) => refuse(refused)
      case _ => ()
    }
    agenda.after(300)(renew())
  }

  private def until(
      question: WriterAsk
  )(expected: PartialFunction[(Long, WriterAnswer), Unit]): Unit =
    if (!isOver) {
      val askedAt = agenda.now
      ask(question) {
        case _ if isOver => ()
        case Some(refused: Refused) => refuse(refused)
        case Some(answer) if expected.isDefinedAt(askedAt -> answer) => expected(askedAt -> answer)
        case _ => agenda.after(200)(until(question)(expected))
      }
    }

  private def refuse(refused: Refused): Unit = if (!isOver) {
    require(refused.condition == OnceException.Fenced, refused.message)
    crash()
    ended(Some(new OnceException(refused.condition, refused.message)))
  }

  private def end(failure: Option[Throwable]): Unit = {
    isOver = true
    ended(failure)
  }
}
