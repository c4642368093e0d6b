package sparkkinesis.sink.once

import scala.concurrent.duration._

import sparkkinesis.client.Moment
import sparkkinesis.sink.once.WriterAnswer._
import sparkkinesis.sink.once.WriterAsk._

/**
 * Every decision of a task attempt that writes exactly once: what it asks the driver, when it asks
 * again, and when it gives up. A state machine without threads, clock and lock. The caller passes
 * the time, carries the questions to the driver, and reports the answers.
 *
 * @param sender gets the right to send
 * @param patience how long the driver may be silent before the attempt fails
 */
private[sparkkinesis] final class TaskLoop(
    sender: OnceSender,
    partition: Int,
    task: Long,
    patience: FiniteDuration,
    begun: Moment
) {
  import TaskLoop._

  private var open = Vector(Question(Hold(partition, task, isFirst = true), begun))
  private var heardAt = begun
  private var lastError = Option.empty[Throwable]
  private var ended = Option.empty[Throwable]
  private var rows = Option.empty[Array[Byte]]
  private var questions = 0L
  private var recovery = Option.empty[Set[Hash128]]

  /** Why the attempt may not write any more. */
  def failure: Option[Throwable] = ended

  /**
   * Hashes of the rows that earlier attempts of the partition wrote. None until the attempt may
   * send.
   */
  def rowsInRun: Option[Array[Byte]] = rows

  /** The aggregates that the last `recover` asked for; none until there is an answer. */
  def recovered: Option[Set[Hash128]] = recovery

  /** Whether the driver knows that the attempt has finished. */
  def isFinished: Boolean = open.isEmpty

  /** Asks which records of unknown outcome are in the stream. One question at a time. */
  def recover(shards: Seq[ShardInDoubt], now: Moment): Unit = {
    recovery = None
    open :+= Question(Recover(partition, task, nextNumber(), shards), now)
  }

  private def nextNumber(): Long = {
    questions += 1
    questions
  }

  /** Every row is in the stream. See [[Finish]]. */
  def finish(skipped: Long, total: RowTotal, now: Moment): Unit =
    open = Vector(Question(Finish(partition, task, skipped, total), now))

  /** The questions to ask now. To be called several times per second. */
  def tick(now: Moment): Vector[WriterAsk] =
    if (ended.nonEmpty) Vector.empty
    else if (open.nonEmpty && millis(now) - millis(heardAt) > patience.toMillis) {
      ended = Some(silent)
      Vector.empty
    } else {
      val (due, others) = open.partition(_.dueAt.exists(_ <= millis(now)))
      open = others ++ due.map(_.copy(dueAt = None))
      due.map(aged(_, now))
    }

  /** Ages rise. The steady clock, by which they are measured, may have stood still. */
  private def aged(question: Question, now: Moment): WriterAsk = question.ask match {
    case it: Recover =>
      val more = millis(now) - millis(question.since) + now.standstillSince(begun)
      it.copy(shards = it.shards.map(shard => shard.copy(ageMillis = shard.ageMillis + more)))
    case other => other
  }

  /**
   * @param askedAt when the question was sent
   * @param answer `None` if the write has ended on the driver; a failure if no answer came
   */
  def answered(
      ask: WriterAsk,
      askedAt: Moment,
      answer: Either[Throwable, Option[WriterAnswer]],
      now: Moment
  ): Unit = {
    change(ask)(_.copy(dueAt = Some(millis(now) + pause(ask))))
    answer match {
      case Left(e) =>
        lastError = Some(e)
        // The driver may yet receive the question, and take it for younger than it is.
        change(ask) { it =>
          it.ask match {
            case recover: Recover => it.copy(recover.copy(number = nextNumber()))
            case _ => it
          }
        }
      case Right(None) => fail(OnceException.fenced("its write has ended on the driver"))
      case Right(Some(Refused(condition, message))) => fail(new OnceException(condition, message))
      case Right(Some(other)) =>
        heardAt = now
        lastError = None
        heard(ask, askedAt, other)
    }
  }

  private def heard(ask: WriterAsk, askedAt: Moment, answer: WriterAnswer): Unit =
    (ask, answer) match {
      case (hold: Hold, Held(millis, found)) =>
        sender.hold(askedAt, millis)
        if (hold.isFirst) {
          rows = Some(found)
          change(hold)(_.copy(hold.copy(isFirst = false)))
        }
      case (recover: Recover, Recovered(digests)) if recover.number == questions =>
        recovery = Some(Hash128.decode(digests).toSet)
        open = open.filterNot(_.isSame(ask))
      case (_: Finish, Finished) => open = open.filterNot(_.isSame(ask))
      case _ => ()
    }

  private def change(ask: WriterAsk)(to: Question => Question): Unit =
    open = open.map(it => if (it.isSame(ask)) to(it) else it)

  private def pause(ask: WriterAsk): Long = ask match {
    case Hold(_, _, false) => sender.terms.lease.toMillis / RenewalsPerLease
    case _ => PollPeriod
  }

  private def fail(e: Throwable): Unit = if (ended.isEmpty) ended = Some(e)

  private def silent = OnceException.fenced(
    s"the driver has not answered for $patience${lastError.fold("")(e => s" ($e)")}",
    lastError.orNull
  )
}

private object TaskLoop {
  private val PollPeriod = 200L
  private val RenewalsPerLease = 5

  /** @param dueAt when it is asked; none while its answer is missing */
  private final case class Question(ask: WriterAsk, since: Moment, dueAt: Option[Long]) {

    /** At most one question of a kind is open. */
    def isSame(other: WriterAsk): Boolean = (ask, other) match {
      case (one: Recover, two: Recover) => one.number == two.number
      case _ => ask.getClass == other.getClass
    }
  }

  private object Question {
    def apply(ask: WriterAsk, since: Moment): Question = Question(ask, since, Some(millis(since)))
  }

  private def millis(moment: Moment): Long = moment.steady.toEpochMilli
}
