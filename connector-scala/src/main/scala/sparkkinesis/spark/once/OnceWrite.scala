package sparkkinesis.spark.once

import java.util.UUID
import java.util.concurrent.RejectedExecutionException

import scala.annotation.tailrec
import scala.concurrent.duration._
import scala.util.control.NonFatal

import org.apache.spark.SparkContext
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sparkkinesis.{DriverRpc, Messages, OtherVersion}

import sparkkinesis.client._
import sparkkinesis.compat._
import sparkkinesis.model.StreamRef
import sparkkinesis.shard.StreamClient
import sparkkinesis.shard.pace.SharedReads
import sparkkinesis.sink.once._
import sparkkinesis.source.protocol.ProtocolVersion

/**
 * The driver's part of one attempt to write a batch exactly once: connects a [[DriverLoop]] with
 * the tasks, the log of attempts and the stream. Answers the tasks from `begin` to `close`, on
 * Spark's RPC threads, and carries out the loop's commands on threads of its own.
 *
 * @param loan of the client, which `close` returns
 */
private[spark] final class OnceWrite(
    log: AttemptLog,
    query: String,
    stream: StreamRef,
    loan: Loan[KinesisClient],
    terms: OnceTerms,
    clock: Clock
) extends AutoCloseable {
  import OnceWrite._

  private val endpoint = s"spark-kinesis-once-${UUID.randomUUID}"
  private val calls = DaemonThreads.pool("spark-kinesis-once", MostCalls)
  private var done = Option.empty[CompletedWrite]
  private var running = Option.empty[Running]
  @volatile private var isClosed = false

  /**
   * Begins the attempt. If it is not the first of its batch, waits until the earlier one cannot
   * write any more, and reads what that one has written.
   *
   * If the batch was committed before, nothing is to be written.
   *
   * @throws OnceException if the rows of the earlier attempt may have expired
   */
  def begin(batch: Long, summary: StreamSummary): OnceSettings = {
    val target = s"${summary.arn} ${summary.created.toEpochMilli}"
    val (start, serverTime) = (clock.moment, summary.serverTime.getOrElse(clock.now))
    done = log.committed(target)
    val attempt = if (isDone) None else Some(log.begin(batch, target, serverTime))
    val logged = clock.moment
    val (incarnation, run) = attempt.fold(("", 0L))(it => (it.incarnation, it.run))
    val source = StreamClient(stream, loan.value, new SharedReads(loan.value.isAws))
    val reader = new ReadBack(source, summary, clock)
    val since = attempt.fold(serverTime)(_.since)
    if (run > 0) {
      reader.requireRetained(since.minusMillis(terms.margin.toMillis), serverTime)
      logger.info(s"Batch $batch of $query was begun before: reads stream $stream back.")
    }
    val identity = WriterIdentity(query, batch, incarnation, run, 0, 0)
    val driver = new DriverLoop(identity, since, start, serverTime, logged, terms)
    val it = new Running(driver, attempt, reader)
    running = Some(it)
    val rows = Option.when(run > 0)(it.broadcastEarlier())
    OnceSettings(endpoint, query, batch, incarnation, run, rows, terms, isDone, log.isNamed)
  }

  /** Whether an earlier run has committed every row, so that the tasks only count theirs. */
  def isDone: Boolean = done.nonEmpty

  /** @throws OnceException if the rows are not those that an earlier attempt wrote */
  def check(): Unit = running.foreach { it =>
    it.tell(_.checkEnd())
    done.foreach(checkTotal(_, it.tell(_.total)))
  }

  private def checkTotal(before: CompletedWrite, total: RowTotal): Unit = {
    if (total != before.total)
      throw OnceException.nameIsUsed(query, before.at, before.total, total)
    logger.warn(
      s"Batch write '$query' was complete at ${before.at}: all its ${total.rows} rows are in the " +
        "stream already, and this run skipped them."
    )
  }

  /** Commits the batch, which is complete after `check`. */
  def commit(): Unit =
    for (it <- running; attempt <- it.attempt) log.commit(attempt, it.tell(_.total), clock.now)

  override def close(): Unit = if (!isClosed) {
    isClosed = true
    calls.shutdownNow()
    try running.foreach(_.stop())
    finally
      try loan.close()
      finally log.close()
  }

  /** @param attempt none if the batch was committed before */
  private final class Running(driver: DriverLoop, val attempt: Option[Attempt], reader: ReadBack) {
    private val server = DriverRpc.serve(endpoint)((_, question) => answer(question))(_ => ())
    private val ticks = attempt.map { it =>
      Timer.every(TickPeriod)(() => tell(_.tick(clock.moment)).foreach(carryOut(it, _)))
    }
    private var earlier = Option.empty[Broadcast[Array[Byte]]]

    def tell[A](event: DriverLoop => A): A = driver.synchronized(event(driver))

    /** Waits for the rows that earlier runs wrote. */
    def broadcastEarlier(): Broadcast[Array[Byte]] = {
      val made = SparkContext.getOrCreate().broadcast(awaitEarlier())
      earlier = Some(made)
      made
    }

    @tailrec
    private def awaitEarlier(): Array[Byte] = {
      tell(_.failure).foreach(throw _)
      val rows = tell(_.earlierRows)
      if (rows.nonEmpty) rows.get
      else {
        clock.sleep(TickPeriod)
        awaitEarlier()
      }
    }

    private def answer(question: Array[Byte]): Array[Byte] = {
      val answer =
        try {
          val ask = Messages.decode[WriterAsk](question, ProtocolVersion.Current)
          tell(_.asked(ask, clock.moment))
        } catch { case other: OtherVersion => OnceTask.refused(other) }
      Messages.encode(answer, ProtocolVersion.Current)
    }

    private def carryOut(attempt: Attempt, command: DriverLoop.Command): Unit = command match {
      case DriverLoop.Command.CheckLog => call("check its log of attempts")(checkLog(attempt))
      case DriverLoop.Command.Read(pass) =>
        call("read back what it wrote") {
          val found = new DriverLoop.Found(pass, reader.read(pass))
          tell(_.read(found))
        }
    }

    private def checkLog(attempt: Attempt): Unit = {
      val asked = clock.moment
      val isNewest =
        try Right(log.isNewest(attempt))
        catch {
          case NonFatal(e) if !isClosed =>
            logger.warn("Could not read the log of attempts; tries again.", e)
            Left(e)
        }
      tell(_.checked(isNewest, asked, clock.moment))
    }

    /** Any failure, even a fatal one, ends the write: its tasks would wait for the call in vain. */
    private def call(what: String)(body: => Unit): Unit = {
      def failed(e: Throwable): Unit = if (!isClosed) {
        logger.warn(s"The sink could not $what (stream $stream).", e)
        tell(_.end(e match {
          case known: OnceException => known
          case _ => OnceException.failed(s"$what (stream $stream)", e)
        }))
      }
      val task: Runnable = () =>
        try body
        catch { case e: Throwable => failed(e) }
      try calls.execute(task)
      catch {
        case _: RejectedExecutionException => () // closed
        case e: Throwable => failed(e) // there is no memory for a thread
      }
    }

    def stop(): Unit = {
      ticks.foreach(_.close())
      server.close()
      earlier.foreach(_.destroy())
    }
  }
}

private object OnceWrite {
  private val logger = org.slf4j.LoggerFactory.getLogger(classOf[OnceWrite])
  private val TickPeriod = 100.millis

  /** One look into the log, and one pass for each kind. */
  private val MostCalls = 3
}
