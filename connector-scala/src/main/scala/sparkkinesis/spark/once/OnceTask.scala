package sparkkinesis.spark.once

import scala.annotation.tailrec
import scala.concurrent.duration._

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sparkkinesis.{DriverLink, Messages, OtherVersion}

import sparkkinesis.client.{Clock, DaemonThreads}
import sparkkinesis.model.PutEntry
import sparkkinesis.sink.once.WriterAsk._
import sparkkinesis.sink.once._
import sparkkinesis.source.protocol.ProtocolVersion

/**
 * Connects a [[TaskLoop]] with the task and the driver. One thread asks the driver, from `begin` to
 * `close`; the task's threads call the methods and wait for what the loop decides.
 *
 * @param ask sends a question to the driver. `None` if the write has ended; an exception if there
 *   is no answer this time
 * @param patience how long the driver may be silent before the attempt fails
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
    new OnceSender(settings.identity(partition, task), settings.terms, clock)

  private val lock = new Object
  private lazy val loop = new TaskLoop(sender, partition, task, patience, clock.moment)
  private lazy val asking = DaemonThreads.named("spark-kinesis-once-ask").newThread(() => run())
  private var before = Option.empty[EarlierRows]
  private var total = RowTotal.Zero
  @volatile private var ended = Option.empty[Throwable]
  @volatile private var isClosed = false

  override def failure: Option[Throwable] = ended

  /** Waits for the permission, at the first row. */
  def begin(): Unit = if (before.isEmpty && !settings.isDone) {
    start()
    val rows = await(_.rowsInRun)
    val inBatch = settings.rows.fold(Array.emptyByteArray)(_.value)
    before = Some(new EarlierRows(new FoundRows(inBatch), new FoundRows(rows)))
  }

  private def start(): Unit = if (asking.getState == Thread.State.NEW) asking.start()

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
    tell(_.finish(before.fold(0L)(_.skipped), total, clock.moment))
    start()
    await(it => Some(()).filter(_ => it.isFinished))
  }

  private def surplus(rows: Long) =
    s"The stream has $rows more copies of rows of partition $partition of batch " +
      s"${settings.batch} than the batch has. The sink cannot delete them, and goes on."

  override def recover(shards: Seq[ShardInDoubt]): Set[Hash128] = {
    tell(_.recover(shards, clock.moment))
    await(_.recovered)
  }

  override def close(): Unit = {
    isClosed = true
    asking.interrupt()
  }

  /** Waits for what the loop decides. */
  @tailrec
  private def await[A](decided: TaskLoop => Option[A]): A = {
    failure.foreach(throw _)
    if (isCancelled()) throw new InterruptedException("The task was cancelled.")
    val answer = lock.synchronized {
      val before = decided(loop)
      if (before.isEmpty) clock.await(lock, Period.toMillis)
      before
    }
    if (answer.nonEmpty) answer.get else await(decided)
  }

  private def tell[A](event: TaskLoop => A): A = lock.synchronized {
    val answer = event(loop)
    ended = ended.orElse(loop.failure)
    lock.notifyAll()
    answer
  }

  private def run(): Unit =
    try
      while (!isClosed) {
        tell(_.tick(clock.moment)).foreach(carry)
        clock.sleep(Period)
      }
    catch {
      case _: InterruptedException => ()
      case e: Throwable => ended = Some(e) // the task's thread throws it
    }

  private def carry(question: WriterAsk): Unit = {
    val askedAt = clock.moment
    val answer =
      try Right(ask(question))
      catch {
        case e: InterruptedException => throw e
        case e: Exception =>
          log.debug("The driver did not answer.", e)
          Left(e)
      }
    tell(_.answered(question, askedAt, answer, clock.moment))
  }
}

private[spark] object OnceTask {
  private val log = org.slf4j.LoggerFactory.getLogger(classOf[OnceTask])
  private val Period = 100.millis

  /** A longer time for an answer that may carry the rows of an earlier attempt, 16 bytes each. */
  private val AskTimeout = 10.seconds
  private val RowsTimeout = 2.minutes

  /** Sends questions to the driver's endpoint. */
  def link(endpoint: String): WriterAsk => Option[WriterAnswer] = {
    val (usual, rows) =
      (new DriverLink(endpoint, AskTimeout), new DriverLink(endpoint, RowsTimeout))
    question =>
      val driver = question match {
        case Hold(_, _, true) => rows
        case _ => usual
      }
      try
        driver
          .ask(Messages.encode(question, ProtocolVersion.Current))
          .map(Messages.decode[WriterAnswer](_, ProtocolVersion.Current))
      catch { case other: OtherVersion => Some(refused(other)) }
  }

  /** Driver and executors need the same jar: to ask again does not help. */
  private[once] def refused(other: OtherVersion): WriterAnswer = WriterAnswer.Refused(
    OnceException.Fenced,
    s"Driver and executors have different versions of the connector: ${other.version} and " +
      s"${ProtocolVersion.Current}. Give all of them the same jar, and run the query again."
  )
}

/**
 * What the tasks of an attempt need. Travels to executors.
 *
 * @param endpoint of the driver
 * @param rows sorted hashes of the rows that earlier attempts of the batch wrote, which the tasks
 *   of an executor share; none in a first attempt
 * @param isDone whether every row is in the stream already, so that tasks only count their rows
 * @param isNamed whether it is a batch write with a name, which is compared with later ones by a
 *   sum of its rows
 */
private[spark] final case class OnceSettings(
    endpoint: String,
    query: String,
    batch: Long,
    incarnation: String,
    run: Long,
    rows: Option[Broadcast[Array[Byte]]],
    terms: OnceTerms,
    isDone: Boolean = false,
    isNamed: Boolean = false
) {
  def identity(partition: Int, task: Long): WriterIdentity =
    WriterIdentity(query, batch, incarnation, run, partition, task)
}
