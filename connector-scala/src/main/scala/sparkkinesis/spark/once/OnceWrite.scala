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
    val start = clock.moment
    val serverTime = summary.serverTime.getOrElse(clock.now)
    val target = s"${summary.arn} ${summary.created.toEpochMilli}"
    val attempt = log.begin(batch, target, serverTime)
    val since = attempt.since.minusMillis(terms.margin.toMillis)
    val reader = new ReadBack(loan.value, stream, since, summary.retention, clock, chance)
    val identity = WriterIdentity(query, batch, attempt.incarnation, attempt.run, 0, 0)
    val rows =
      if (attempt.run == 0) Vector.empty
      else {
        reader.requireRetained(serverTime)
        logger.info(s"Batch $batch of $query was begun before: reads stream $stream back.")
        clock.sleep(terms.silence)
        reader.read(it => it.isSameBatch(identity) && it.run < attempt.run).flatMap(_.rows)
      }
    val session = new WriteSession(attempt.run, terms, start.steady.toEpochMilli)
    running = Some(new Running(attempt, session, start, reader, identity, rows.size.toLong))
    running.foreach(_.start())
    val hashes = Hash128.encode(rows)
    OnceSettings(endpoint, query, batch, attempt.incarnation, attempt.run, hashes, terms)
  }

  /** @throws OnceException if the batch lacks rows that an earlier attempt wrote */
  def commit(): Unit = running.foreach(_.check())

  override def close(): Unit = if (!isClosed) {
    isClosed = true
    try running.foreach(_.stop())
    finally
      try loan.close()
      finally log.close()
  }

  /**
   * The endpoint and the threads.
   *
   * @param begun when the attempt began
   */
  private final class Running(
      attempt: Attempt,
      session: WriteSession,
      begun: Moment,
      reader: ReadBack,
      identity: WriterIdentity,
      earlier: Long
  ) {
    private var newest = begun // guarded by the session

    private val server = DriverRpc.serve(endpoint) { (_, question) =>
      val ask = Messages.decode[WriterAsk](question, ProtocolVersion.Current)
      Messages.encode(answer(ask), ProtocolVersion.Current)
    }(_ => ())

    private val threads = Seq(
      "check its log of attempts" -> (() => checkNewest()),
      "read back what it wrote" -> (() => readForTasks())
    ).map { case (what, body) =>
      val name = s"spark-kinesis-once-${what.takeWhile(_ != ' ')}"
      val thread = new Thread(() => OnceLoop.run(() => isClosed, body, failed(what, _)), name)
      thread.setDaemon(true)
      thread
    }

    def start(): Unit = threads.foreach(_.start())

    def stop(): Unit = {
      threads.foreach(_.interrupt())
      server.close()
    }

    def check(): Unit = session.synchronized(session.checkEnd(earlier))

    private def answer(ask: WriterAsk) = session.synchronized {
      val now = clock.moment
      session.answer(ask, now.steady.toEpochMilli, now.standstillSince(newest))
    }

    private def checkNewest(): Unit = {
      val at = clock.moment
      try
        if (log.isNewest(attempt)) session.synchronized {
          session.newest(at.steady.toEpochMilli)
          newest = at
        }
        else end(OnceException.fenced("a later attempt of the batch, or a later batch, has begun"))
      catch {
        case NonFatal(e) if !isClosed =>
          logger.warn("Could not read the log of attempts; tries again.", e)
      }
      clock.sleep((terms.lease.toMillis / ChecksPerLease).millis)
    }

    private def readForTasks(): Unit = {
      clock.sleep(ReadPeriod)
      session.synchronized(session.due(clock.elapsedMillis)).foreach { pass =>
        val found = reader.read(it => it.isSameBatch(identity) && pass.needs(it))
        session.synchronized(session.found(pass, found))
      }
    }

    private def failed(what: String, e: Throwable): Unit = {
      logger.warn(s"The sink could not $what (stream $stream).", e)
      end(e match {
        case known: OnceException => known
        case _ => OnceException.failed(s"$what (stream $stream)", e)
      })
    }

    private def end(e: OnceException): Unit = session.synchronized(session.end(e))
  }
}

private object OnceWrite {
  private val logger = org.slf4j.LoggerFactory.getLogger(classOf[OnceWrite])
  private val ChecksPerLease = 5L
  private val ReadPeriod = 100.millis
}
