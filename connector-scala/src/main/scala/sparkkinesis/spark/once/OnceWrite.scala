package sparkkinesis.spark.once

import java.time.Instant
import java.util.UUID

import scala.concurrent.duration._
import scala.util.control.NonFatal

import org.apache.spark.SparkContext
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sparkkinesis.{DriverRpc, Messages}

import sparkkinesis.client._
import sparkkinesis.model.StreamRef
import sparkkinesis.shard.StreamClient
import sparkkinesis.shard.pace.SharedReads
import sparkkinesis.sink.once._
import sparkkinesis.source.protocol.ProtocolVersion

/**
 * The driver's part of one attempt to write a batch exactly once. Answers the tasks from `begin` to
 * `close`.
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
  private var running = Option.empty[Running]
  private var recount = Option.empty[Recount]
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
    recount = log.committed(target).map(new Recount(endpoint, query, _))
    if (recount.isEmpty) begin(batch, target, summary)
    else OnceSettings(endpoint, query, batch, "", 0, None, terms, isDone = true, isNamed = true)
  }

  /** Whether an earlier run has committed every row. */
  def isDone: Boolean = recount.nonEmpty

  private def begin(batch: Long, target: String, summary: StreamSummary): OnceSettings = {
    val start = clock.moment
    val serverTime = summary.serverTime.getOrElse(clock.now)
    val attempt = log.begin(batch, target, serverTime)
    val since = attempt.since.minusMillis(terms.margin.toMillis)
    val source = StreamClient(stream, loan.value, new SharedReads(loan.value.isAws))
    val reader = new ReadBack(source, summary, since, clock, AtATime)
    val identity = WriterIdentity(query, batch, attempt.incarnation, attempt.run, 0, 0)
    val rows =
      if (attempt.run == 0) None
      else {
        reader.requireRetained(serverTime)
        logger.info(s"Batch $batch of $query was begun before: reads stream $stream back.")
        clock.sleep(terms.silence)
        val found = reader.read(it => it.isSameBatch(identity) && it.run < attempt.run)
        Some(SparkContext.getOrCreate().broadcast(SortedHashes.of(found.map(_.rows))))
      }
    running = Some(new Running(attempt, start, serverTime, reader, identity, rows))
    running.foreach(_.start())
    val isNamed = log.isNamed
    OnceSettings(
      endpoint,
      query,
      batch,
      attempt.incarnation,
      attempt.run,
      rows,
      terms,
      isNamed = isNamed
    )
  }

  /** @throws OnceException if the batch lacks rows that an earlier attempt wrote */
  def check(): Unit = {
    running.foreach(_.check())
    recount.foreach(_.check())
  }

  /** Commits the batch, which is complete after `check`. */
  def commit(): Unit = running.foreach(it => log.commit(it.attempt, it.total, clock.now))

  override def close(): Unit = if (!isClosed) {
    isClosed = true
    try {
      running.foreach(_.stop())
      recount.foreach(_.close())
    } finally
      try loan.close()
      finally log.close()
  }

  /**
   * The endpoint and the threads.
   *
   * @param begun when the attempt began
   * @param begunAt the same or earlier, by the service's clock
   * @param earlier hashes of the rows that earlier runs wrote
   */
  private final class Running(
      val attempt: Attempt,
      begun: Moment,
      begunAt: Instant,
      reader: ReadBack,
      identity: WriterIdentity,
      earlier: Option[Broadcast[Array[Byte]]]
  ) {
    private val session = new WriteSession(attempt.run, terms, begun.steady.toEpochMilli)
    private var newest = begun // guarded by the session

    private val server = OnceEndpoint.serve(endpoint)(answer)

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
      earlier.foreach(_.destroy())
    }

    def check(): Unit = {
      val rows = earlier.fold(0)(_.value.length / Hash128.Bytes)
      session.synchronized(session.checkEnd(rows.toLong))
    }

    def total: RowTotal = session.synchronized(session.total)

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
        val sinceBegin = pass.since - begun.steady.toEpochMilli - terms.margin.toMillis
        val from = begunAt.plusMillis(sinceBegin)
        val found = reader.read(it => it.isSameBatch(identity) && pass.needs(it), from)
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

  /** Shards of a read-back. */
  private val AtATime = 8
}

/**
 * A run of a batch write that was committed before, on the driver: its tasks write nothing and
 * count their rows. Answers them from its creation to `close`.
 */
private[once] final class Recount(endpoint: String, writeId: String, done: Committed)
    extends AutoCloseable {
  private val session = new WriteSession(run = 0, OnceTerms(), start = 0)

  private val server =
    OnceEndpoint.serve(endpoint)(ask => session.synchronized(session.answer(ask, now = 0)))

  /** @throws OnceException if the rows are not those that were committed */
  def check(): Unit = {
    val total = session.synchronized(session.total)
    if (total != done.total) throw OnceException.nameIsUsed(writeId, done.at, done.total, total)
    Recount.log.warn(
      s"Batch write '$writeId' was complete at ${done.at}: all its ${total.rows} rows are in the " +
        "stream already, and this run skipped them."
    )
  }

  override def close(): Unit = server.close()
}

private[once] object Recount {
  private val log = org.slf4j.LoggerFactory.getLogger(classOf[Recount])
}

/** The driver's end of the tasks' questions. */
private[once] object OnceEndpoint {

  /** Answers until closed. Spark's RPC threads call the function, one at a time. */
  def serve(name: String)(answer: WriterAsk => WriterAnswer): AutoCloseable =
    DriverRpc.serve(name) { (_, question) =>
      val ask = Messages.decode[WriterAsk](question, ProtocolVersion.Current)
      Messages.encode(answer(ask), ProtocolVersion.Current)
    }(_ => ())
}
