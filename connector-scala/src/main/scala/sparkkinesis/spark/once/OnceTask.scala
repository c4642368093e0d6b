package sparkkinesis.spark.once

import scala.annotation.tailrec
import scala.concurrent.duration._
import scala.util.control.NonFatal

import sparkkinesis.client.{Clock, Moment}
import sparkkinesis.model.PutEntry
import sparkkinesis.sink.once.WriterAnswer._
import sparkkinesis.sink.once.WriterAsk._
import sparkkinesis.sink.once._

/**
 * The driver's permission for one task attempt, and the rows that earlier attempts wrote. One
 * thread renews the permission until `close`; the task's threads call the methods.
 *
 * @param ask sends a question to the driver. `None` if the write has ended; an exception if there
 *   is no answer this time
 * @param patience how long the driver may give no permission before the attempt fails
 * @param isCancelled whether Spark has cancelled the task
 */
private[spark] final class OnceTask(
    settings: OnceSettings,
    partition: Int,
    task: Long,
    ask: WriterAsk => Option[WriterAnswer],
    patience: FiniteDuration,
    clock: Clock,
    isCancelled: () => Boolean
) extends OnceCalls
    with AutoCloseable {
  import OnceTask._

  override val sender: OnceSender =
    new OnceSender(settings.identity(partition, task), settings.terms.acceptance, clock)

  private val renewal = new Thread(() => renew(), "spark-kinesis-once-renew")
  renewal.setDaemon(true)
  private var before = Option.empty[EarlierRows]
  private var total = RowTotal.Zero
  private var questions = 0L
  @volatile private var lastError = Option.empty[Throwable]
  @volatile private var refusal = Option.empty[Throwable]

  override def failure: Option[Throwable] = refusal

  /** Waits for the permission, at the first row. */
  def begin(): Unit = if (before.isEmpty && !settings.isDone) {
    val rows = until(Hold(partition, task, isFirst = true)) { case (askedAt, Held(millis, rows)) =>
      sender.hold(askedAt, millis)
      rows
    }
    val inBatch = settings.rows.fold(Array.emptyByteArray)(_.value)
    before = Some(new EarlierRows(new FoundRows(inBatch), new FoundRows(rows)))
    renewal.start()
  }

  /** Whether an earlier attempt wrote the row. Each call stands for one row. */
  def isWritten(entry: PutEntry): Boolean = {
    if (settings.isNamed) total += RowTotal.of(entry)
    settings.isDone || before.exists(_.contains(entry))
  }

  /**
   * Every row is in the stream.
   *
   * @throws OnceException if this is not the newest attempt, or has other rows than earlier ones
   */
  def finish(): Unit = {
    begin()
    before.foreach { earlier =>
      earlier.checkEnd()
      if (earlier.surplus > 0) log.warn(surplus(earlier.surplus))
    }
    val skipped = before.fold(0L)(_.skipped)
    until(Finish(partition, task, skipped, total)) { case (_, Finished) => () }
  }

  private def surplus(rows: Long) =
    s"The stream has $rows more copies of rows of partition $partition of batch " +
      s"${settings.batch} than the batch has. The sink cannot delete them, and goes on."

  override def recover(): Set[Hash128] = {
    val question = synchronized {
      questions += 1
      Recover(partition, task, questions)
    }
    until(question) { case (_, Recovered(digests)) => Hash128.decode(digests).toSet }
  }

  override def close(): Unit = renewal.interrupt()

  /** Asks until there is an answer of the expected kind. */
  private def until[A](
      question: WriterAsk
  )(expected: PartialFunction[(Moment, WriterAnswer), A]): A = {
    val begin = clock.elapsedMillis

    @tailrec
    def next(): A = {
      val askedAt = clock.moment
      val answer = answerTo(question)
      if (expected.isDefinedAt(askedAt -> answer)) expected(askedAt -> answer)
      else {
        if (isCancelled()) throw new InterruptedException("The task was cancelled.")
        if (askedAt.steady.toEpochMilli - begin > longest.toMillis) throw silent
        clock.sleep(PollPeriod)
        next()
      }
    }
    next()
  }

  /** A later attempt has to wait before the stream is read for it. */
  private def longest = patience + settings.terms.silence

  private def answerTo(question: WriterAsk): WriterAnswer = {
    val answer =
      try {
        val it = ask(question)
        lastError = None
        it
      } catch {
        case e: InterruptedException => throw e
        case NonFatal(e) =>
          log.debug("The driver did not answer.", e)
          lastError = Some(e)
          Some(NotYet)
      }
    answer match {
      case Some(Refused(condition, message)) => throw new OnceException(condition, message)
      case Some(other) => other
      case None => throw OnceException.fenced("its write has ended on the driver")
    }
  }

  private def renew(): Unit = {
    val period = (settings.terms.lease.toMillis / RenewalsPerLease).millis
    var answeredAt = clock.moment
    try
      while (refusal.isEmpty) {
        clock.sleep(period)
        val askedAt = clock.moment
        answerTo(Hold(partition, task, isFirst = false)) match {
          case Held(millis, _) =>
            sender.hold(askedAt, millis)
            answeredAt = askedAt
          case _ => if (isSilent(answeredAt, askedAt)) throw silent
        }
      }
    catch {
      case _: InterruptedException => ()
      case e: Throwable => refusal = Some(e) // the task's thread throws it
    }
  }

  private def isSilent(since: Moment, now: Moment) =
    now.steady.toEpochMilli - since.steady.toEpochMilli > patience.toMillis

  private def silent = OnceException.fenced(
    s"the driver gave no permission for $longest${lastError.fold("")(e => s" ($e)")}",
    lastError.orNull
  )
}

private object OnceTask {
  private val log = org.slf4j.LoggerFactory.getLogger(classOf[OnceTask])
  private val PollPeriod = 200.millis
  private val RenewalsPerLease = 5
}
