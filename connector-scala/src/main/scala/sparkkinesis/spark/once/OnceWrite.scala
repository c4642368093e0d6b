package sparkkinesis.spark.once

import java.util.UUID

import scala.concurrent.duration._
import scala.util.control.NonFatal

import org.apache.spark.sparkkinesis.{DriverRpc, Messages}

import sparkkinesis.client._
import sparkkinesis.model.StreamRef
import sparkkinesis.sink.once._
import sparkkinesis.source.protocol.ProtocolVersion

/**
 * One attempt to write a batch exactly once, on the driver. Answers the tasks from `begin` to `close`.
 *
 * @param loan of the client, which `close` returns
 */
private[spark] final class OnceWrite(
    log: AttemptLog,
    query: String,
    stream: StreamRef,
    loan: Loan[KinesisClient],
    terms: OnceTerms,
    clock: Clock,
    chance: () => Double
) extends AutoCloseable {
  import OnceWrite._

  private val endpoint = s"spark-kinesis-once-${UUID.randomUUID}"
  private var running = Option.empty[Running]
  @volatile private var isClosed = false

  /**
   * Begins the attempt. If it is not the first of its batch, waits until the earlier one cannot write
   * any more, and reads what that one has written.
   *
   * @throws OnceException if the rows of the earlier attempt may have expired
   */
  def begin(batch: Long, summary: StreamSummary): OnceSettings = {
    val start = clock.elapsedMillis
    val serverTime = summary.serverTime.getOrElse(clock.now)
    val target = s"${summary.arn} ${summary.created.toEpochMilli}"
    val attempt = log.begin(batch, target, serverTime)
    val since = begun(attempt)
    val reader = new ReadBack(loan.value, stream, since, clock, chance)
    val identity = WriterIdentity(query, batch, attempt.incarnation, attempt.run, 0, 0)
    val rows =
      if (attempt.run == 0) Vector.empty
      else {
        requireRetained(attempt, summary)
        logger.info(s"Batch $batch of $query was begun before: reads stream $stream back.")
        clock.sleep(terms.silence)
        reader.read(it => it.isSameBatch(identity) && it.run < attempt.run).flatMap(_.rows)
      }
    val session = new WriteSession(attempt.run, terms, start)
    running = Some(new Running(attempt, session, reader, identity, rows.size.toLong))
    running.foreach(_.start())
    val hashes = Hash128.encode(rows)
    OnceSettings(endpoint, query, batch, attempt.incarnation, attempt.run, hashes, terms)
  }

  private def begun(attempt: Attempt) = attempt.since.minusMillis(terms.margin.toMillis)

  private def requireRetained(attempt: Attempt, summary: StreamSummary): Unit = {
    val now = summary.serverTime.getOrElse(clock.now)
    if (begun(attempt).isBefore(now.minusMillis(summary.retention.toMillis)))
      throw new OnceException(
        OnceException.ReadBackTooLate,
        s"Batch ${attempt.batch} was begun at ${attempt.since}, and stream $stream keeps records for " +
          s"${summary.retention}: it cannot be known which rows were written. To write all rows of the " +
          s"batch again, delete the folder ${AttemptLog.Folder} in the checkpoint."
      )
  }

  /** @throws OnceException if the batch lacks rows that an earlier attempt wrote */
  def commit(): Unit = running.foreach(_.check())

  override def close(): Unit = if (!isClosed) {
    isClosed = true
    try running.foreach(_.stop())
    finally loan.close()
  }

  /** The endpoint and the threads. */
  private final class Running(
      attempt: Attempt,
      session: WriteSession,
      reader: ReadBack,
      identity: WriterIdentity,
      earlier: Long
  ) {
    private val server = DriverRpc.serve(endpoint) { (_, question) =>
      val ask = Messages.decode[WriterAsk](question, ProtocolVersion.Current)
      val answer = session.synchronized(session.answer(ask, clock.elapsedMillis))
      Messages.encode(answer, ProtocolVersion.Current)
    }(_ => ())

    private val threads = Seq(
      "check" -> (() => check(attempt)),
      "read" -> (() => readForTasks())
    ).map { case (name, body) =>
      val thread = new Thread(() => untilInterrupted(body), s"spark-kinesis-once-$name")
      thread.setDaemon(true)
      thread
    }

    def start(): Unit = threads.foreach(_.start())

    def stop(): Unit = {
      threads.foreach(_.interrupt())
      server.close()
    }

    def check(): Unit = session.synchronized(session.checkEnd(earlier))

    private def untilInterrupted(body: () => Unit): Unit =
      try while (!isClosed) body()
      catch { case _: InterruptedException => () }

    private def check(attempt: Attempt): Unit = {
      val at = clock.elapsedMillis
      try
        if (log.isNewest(attempt)) session.synchronized(session.newest(at))
        else end(OnceException.fenced("a later attempt of the batch, or a later batch, has begun"))
      catch {
        case e: InterruptedException => throw e
        case NonFatal(e) => logger.warn("Could not read the log of attempts; tries again.", e)
      }
      clock.sleep((terms.lease.toMillis / ChecksPerLease).millis)
    }

    private def readForTasks(): Unit = {
      clock.sleep(ReadPeriod)
      session.synchronized(session.due(clock.elapsedMillis)).foreach { pass =>
        try {
          val found = reader.read(it => it.isSameBatch(identity) && pass.needs(it))
          session.synchronized(session.found(pass, found))
        } catch {
          case e: InterruptedException => throw e
          case e: OnceException => end(e)
          case NonFatal(e) =>
            logger.warn("Reading the stream back failed.", e)
            val text =
              s"The sink could not read back what it wrote to stream $stream: ${e.getMessage}"
            end(new OnceException(OnceException.ReadBackFailed, text))
        }
      }
    }

    private def end(e: OnceException): Unit = session.synchronized(session.end(e))
  }
}

private object OnceWrite {
  private val logger = org.slf4j.LoggerFactory.getLogger(classOf[OnceWrite])
  private val ChecksPerLease = 5L
  private val ReadPeriod = 100.millis
}
