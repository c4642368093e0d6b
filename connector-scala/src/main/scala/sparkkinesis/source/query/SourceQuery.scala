package sparkkinesis.source.query

import java.time.Instant

import scala.concurrent.duration._
import scala.util.Try
import scala.util.control.NonFatal

import sparkkinesis.client.{Moment, StreamSummary}
import sparkkinesis.compat._
import sparkkinesis.model.offset.{SourceOffset, StreamOffset}
import sparkkinesis.model.{Shard, StreamArn, StreamShard}
import sparkkinesis.shard.SourceException
import sparkkinesis.source.options.{ConsumerChoice, SourceOptions}
import sparkkinesis.source.plan.{ExecutorTable, HeldBack, ShardCounts}
import sparkkinesis.source.protocol._

/**
 * The driver's side of a running query. Each method is an event. Some of them leave commands, which
 * the caller takes and carries out. One thread at a time.
 *
 * @param lease an executor without a heartbeat for this time is gone. Executors send at least five
 *   per second
 */
private[sparkkinesis] abstract class SourceQuery(
    options: SourceOptions,
    val streams: QueryStreams,
    lease: FiniteDuration
) {
  import SourceQuery._

  /** The executors that report to this driver. */
  final val executors: ExecutorTable = new ExecutorTable(lease)
  private var wanted = Vector.empty[Command]
  private var otherVersion = Option.empty[SourceException]
  private var explained = Option.empty[Explained] // the failure that ends the query

  /** The commands that earlier events have left. Each is returned once. */
  final def commands(): Vector[Command] = {
    val all = wanted
    wanted = Vector.empty
    all
  }

  protected final def leave(commands: Iterable[Command]): Unit = wanted ++= commands

  /** Answers a heartbeat. */
  def heard(beat: Heartbeat): HeartbeatReply

  /** An executor has disconnected. */
  final def lost(executor: String): Unit = {
    executors.lose(executor)
    disconnected(executor)
  }

  protected def disconnected(executor: String): Unit

  /** Time passes: every [[sparkkinesis.source.plan.ExecutorTable.Tick]], or later. */
  final def tick(now: Moment): Unit = {
    silent(executors.tick())
    leave(streams.tick(now))
  }

  /** These executors have sent no heartbeat for long. */
  protected def silent(gone: Set[String]): Unit

  /** An executor has another version of the connector. */
  final def foundVersion(version: String): Unit = otherVersion = otherVersion.orElse {
    Some(
      new SourceException(
        "KINESIS_VERSION_MISMATCH",
        s"An executor of ${options.names} has version $version of the connector, and the driver " +
          s"has version ${ProtocolVersion.Current}. Use the same jar on driver and executors."
      )
    )
  }

  final def begun(stream: StreamArn, answer: Try[StreamOffset]): Unit =
    streams.begun(stream, answer)

  final def listed(stream: StreamArn, answer: Try[Seq[Shard]], now: Moment): Unit = {
    leave(streams.listed(stream, answer, now))
    foundClosed()
    leave(streams.lookAtExpiry(unread, now))
  }

  /** `streams.closed` may have changed. */
  protected def foundClosed(): Unit = ()

  final def probed(stream: StreamArn, areGone: Try[Boolean], now: Moment): Unit =
    leave(streams.probed(stream, areGone, now))

  final def described(stream: StreamArn, answer: Try[StreamSummary], now: Moment): Unit =
    leave(streams.described(stream, answer, now))

  /** The executors of the application: IDs and hosts. */
  def executorsFound(all: Map[String, String]): Unit = ()

  /** The job that starts services has ended. */
  def servicesStarted(failure: Option[Throwable]): Unit = ()

  /** The query stops. Each executor hears of it with the answer to its next heartbeat. */
  def stop(): Unit = executors.stop()

  /** After `stop`: whether every executor knows. */
  final def allKnowOfStop: Boolean = executors.allKnowOfStop

  /** Whether the query ends because of an executor or of a stream. */
  final def hasFailed: Boolean = failureOfExecutors.nonEmpty || streams.hasFailed

  /** A failure of executors that retries cannot fix. */
  private def failureOfExecutors: Option[SourceException] =
    executors.failure
      .map(it => new SourceException(it.condition, it.message))
      .orElse(executors.crash.map(new SourceException("KINESIS_INTERNAL_ERROR", _)))
      .orElse(otherVersion)

  /** Since when each shard has had records that were not processed, at the earliest. */
  protected def unread: Map[StreamShard, Instant]

  /** The time since the last page of each shard, perhaps an empty one. */
  protected def silences: Map[StreamShard, FiniteDuration]

  /** See [[sparkkinesis.source.plan.ProcessingLag]]. */
  protected def lags(
      silences: Map[StreamShard, FiniteDuration],
      now: Moment
  ): Map[StreamShard, Long]

  /** The longest time between two pages of a shard without records, if all is well. */
  protected final def usualPause: FiniteDuration = {
    val reads = options.fetch.ahead
    val isPolled = options.consumer == ConsumerChoice.Polling
    ReportPause + (if (isPolled) reads.idlePeriod.max(reads.minPeriod) else EventPause)
  }

  /** How late the query is, as it is known now. */
  final def lateness(now: Moment): Lateness = lateness(silences, now)

  private def lateness(silences: Map[StreamShard, FiniteDuration], now: Moment) = Lateness(
    streams.access.keySet,
    lags(silences, now),
    streams.soonestExpiry(unread, now).map(_.left)
  )

  /** An answer to Spark's thread, which gets known failures as an answer, too. */
  protected final def answering[A](now: Moment)(answer: => Answer[A]): Answer[A] =
    try explained.fold(answer)(explanation(_, now))
    catch { case NonFatal(cause) => Answer.Fail(cause) }

  /** The failure of executors, if there is one, or a better explanation of it. */
  protected final def failing(
      other: Option[SourceException],
      now: Moment
  ): Option[Answer[Nothing]] =
    other.orElse(failureOfExecutors).map { cause =>
      val failure = explained.getOrElse {
        leave(streams.explain())
        Explained(cause, now.steady.plusMillis(Patience.toMillis))
      }
      explained = Some(failure)
      explanation(failure, now)
    }

  /** That a stream was deleted or created again explains every other failure. */
  private def explanation(failure: Explained, now: Moment): Answer[Nothing] =
    streams.explanation match {
      case Some(better) => Answer.Fail(better.getOrElse(failure.cause))
      case None if now.steady.isBefore(failure.until) => Answer.Wait(failure.until)
      case None => Answer.Fail(failure.cause)
    }

  protected final def later(now: Moment, wait: FiniteDuration): Answer[Nothing] =
    Answer.Wait(now.steady.plusMillis(wait.toMillis))

  /** Spark's thread waits until it is known where the streams begin that join the query. */
  protected final def joining(
      start: SourceOffset,
      now: Moment
  ): Option[Answer[Nothing]] = {
    leave(streams.join(start))
    Option.when(streams.withJoined(start).isEmpty)(later(now, Patience))
  }

  protected final def report(
      frontiers: Map[StreamShard, Frontier],
      shards: ShardCounts,
      now: Moment
  ): QueryReport = {
    val counters = executors.counters
    val silent = silences
    QueryReport(
      lateness(silent, now),
      frontiers,
      shards,
      counters.copy(lostRanges = counters.lostRanges + streams.lostRanges),
      executors.recentCounters,
      streams.failedListings,
      silent.valuesIterator.foldLeft[FiniteDuration](Duration.Zero)(_ max _),
      listingHoles = streams.listingHoles
    )
  }
}

private object SourceQuery {

  /** With the ticks, a dead executor is gone after 11 s. */
  val Lease: FiniteDuration = 10.seconds

  /** A subscription sends an event every five seconds, and is renewed from time to time. */
  private val EventPause = 10.seconds

  /** Until an executor has reported a page, and a tick has passed. */
  private val ReportPause = 1.second

  /** The longest wait for an answer. */
  private val Patience = 10.seconds

  /** @param until when an explanation is waited for, by the steady clock */
  private final case class Explained(cause: SourceException, until: Instant)
}

/**
 * How a query is doing.
 *
 * @param frontiers of shards that were looked at
 * @param counters of all executors since the run began
 * @param recent counters of the last minutes
 * @param failedListings failed calls that list shards
 * @param silence the longest time without an event of a shard, even an empty one
 * @param heldBack if shards advance together: who holds others back
 * @param listingHoles number of ranges of hash keys and of parents that the last listings lack
 */
private[sparkkinesis] final case class QueryReport(
    lateness: Lateness,
    frontiers: Map[StreamShard, Frontier],
    shards: ShardCounts,
    counters: FetchCounters,
    recent: FetchCounters,
    failedListings: Long,
    silence: FiniteDuration,
    heldBack: Option[Option[HeldBack]] = None,
    listingHoles: Int = 0
)

/**
 * How late a query is.
 *
 * @param streams that it reads
 * @param lags age of the oldest record of each shard that was not processed, in milliseconds
 * @param toExpiry the time until the first record expires that was not processed, if it is known
 */
private[sparkkinesis] final case class Lateness(
    streams: Set[StreamArn],
    lags: Map[StreamShard, Long],
    toExpiry: Option[FiniteDuration]
)
