package sparkkinesis.spark.write

import java.time.{Duration, Instant}
import java.util.concurrent.locks.ReentrantLock

import scala.concurrent.duration._

import sparkkinesis.client._
import sparkkinesis.client.aws.{ClientPool, Lease}
import sparkkinesis.model.RecordDistribution
import sparkkinesis.sink.rate.TargetStream
import sparkkinesis.spark.read.FetchRun

/**
 * The streams that the tasks of one executor write to: one client and one answer of the service for
 * each, shared by them all, and given up some time after the last task.
 *
 * Which streams rows name is known on executors only. So each asks about a stream once, and not once a
 * task: the service allows an account 20 such calls a second.
 *
 * @param later as of [[Pool]]
 * @param chance evenly distributed in `[0, 1)`
 */
private[spark] final class RoutedStreams(
    open: ClientConfig => Lease,
    clock: Clock,
    later: (FiniteDuration, () => Unit) => Unit,
    chance: () => Double
) {
  private val pool =
    new Pool[StreamAccess, RoutedStream](
      access => new RoutedStream(access, open(access.client), clock, chance),
      clock,
      later
    )

  /** To be closed by the task. Calls nothing yet. */
  def borrow(access: StreamAccess): Loan[RoutedStream] = pool.borrow(access)

  /** For tests: how many loans are open. */
  private[sparkkinesis] def loans: Int = pool.loans
}

private[spark] object RoutedStreams {

  /** This executor's. */
  val shared: RoutedStreams = new RoutedStreams(
    ClientPool.shared.borrow(_),
    SystemClock,
    Pool.later,
    FetchRun.chance
  )
}

/** A stream that tasks of one executor write to. Safe for use by many threads. */
private[spark] final class RoutedStream(
    val access: StreamAccess,
    lease: Lease,
    clock: Clock,
    chance: () => Double
) extends AutoCloseable {
  import RoutedStream._

  private val asking = new ReentrantLock

  // Guarded by that lock.
  private var known = Option.empty[Answer]
  private var made = Option.empty[(Traits, TargetStream)]

  /**
   * What the service says of it. Asks the first time, and every ten minutes; whoever comes
   * meanwhile waits for the same answer.
   *
   * @throws KinesisException.NotFound there is no such stream. That is remembered for a minute
   * @throws KinesisException or [[ConnectorError]] where it cannot be told, or not be written to
   */
  def summary: StreamSummary = locked(known.filterNot(isStale).getOrElse(ask()).summary)

  /** The same, asked anew if that is a minute ago: users may raise its limits. */
  def freshSummary: StreamSummary = locked(known.filterNot(isOld).getOrElse(ask()).summary)

  /**
   * What writers share of it, as long as it is the same stream and behaves the same.
   *
   * @param executors that are thought to write to it
   */
  def target(summary: StreamSummary, executors: Int): TargetStream = locked {
    val traits = Traits.of(summary)
    val one = made.collect { case (`traits`, same) => same }.getOrElse(make(summary, executors))
    one.expect(executors)
    made = Some(traits -> one)
    one
  }

  private def make(summary: StreamSummary, executors: Int): TargetStream = {
    val spreads = summary.distribution match {
      case RecordDistribution.Auto => Some(summary.openShards)
      case RecordDistribution.UserPartitionKey => None
    }
    new TargetStream(
      access.ref,
      lease.client,
      summary.maxRecordBytes,
      spreads,
      executors,
      clock,
      chance
    )
  }

  override def close(): Unit = lease.close()

  private def ask(): Answer = {
    val said =
      try {
        val summary = Retrying(clock, chance)(lease.client.describeStream(access.ref))
        StreamDescriptions.requireWritable(access.ref, summary.status)
        Right(summary)
      } catch { case e: KinesisException.NotFound => Left(e) }
    val answer = Answer(said, clock.now)
    known = Some(answer)
    answer
  }

  private def isStale(answer: Answer): Boolean =
    age(answer) >= (if (answer.said.isLeft) MaxAge else MostAge)

  private def isOld(answer: Answer): Boolean = age(answer) >= MaxAge

  private def age(answer: Answer): FiniteDuration =
    Duration.between(answer.at, clock.now).toMillis.millis

  /** A task that is to end does not wait here for another's call. */
  private def locked[A](body: => A): A = {
    asking.lockInterruptibly()
    try body
    finally asking.unlock()
  }
}

private[spark] object RoutedStream {
  private val MaxAge = 1.minute
  private val MostAge = 10.minutes

  /** Many executors may ask at once, about many streams. */
  private val Retrying = Retry(attempts = 12, Backoff(base = 200.millis, cap = 5.seconds))

  /** What a writer's ways depend on. */
  private final case class Traits(
      created: Instant,
      maxRecordBytes: Int,
      distribution: RecordDistribution,
      spreadsOver: Int
  )

  private object Traits {
    def of(summary: StreamSummary): Traits = Traits(
      summary.created,
      summary.maxRecordBytes,
      summary.distribution,
      if (summary.distribution == RecordDistribution.Auto) summary.openShards else 0
    )
  }

  private final case class Answer(
      said: Either[KinesisException.NotFound, StreamSummary],
      at: Instant
  ) {
    def summary: StreamSummary = said.fold(throw _, identity)
  }
}
