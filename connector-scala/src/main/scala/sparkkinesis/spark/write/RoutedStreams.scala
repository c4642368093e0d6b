package sparkkinesis.spark.write

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.client._
import sparkkinesis.client.aws.ClientPool
import sparkkinesis.compat._
import sparkkinesis.model.RecordDistribution
import sparkkinesis.sink.rate.TargetStream

/**
 * The streams that the tasks of one executor write to. Tasks share one client, one description and
 * one set of rates per stream, until some time after the last task has ended.
 *
 * Only executors know which streams the rows name, so executors ask the service about those
 * streams.
 *
 * @param later as in [[Pool]]
 */
private[spark] final class RoutedStreams(
    open: ClientConfig => Loan[KinesisClient],
    clock: Clock,
    later: (FiniteDuration, () => Unit) => Unit
) {
  private val pool =
    new Pool[StreamAccess, RoutedStream](
      access => new RoutedStream(access, open(access.client), clock),
      clock,
      later
    )

  /** The stream, on loan to a task, which closes the loan. Does not call the service. */
  def borrow(access: StreamAccess): Loan[RoutedStream] = pool.borrow(access)

  /** Number of open loans, for tests. */
  private[sparkkinesis] def loans: Int = pool.loans
}

private[spark] object RoutedStreams {

  /** The streams to which this JVM writes. */
  val shared: RoutedStreams = new RoutedStreams(
    ClientPool.shared.borrow(_),
    SystemClock,
    Pool.onOwnThread
  )
}

/** A stream that tasks of one executor write to. Safe for many threads. */
private[spark] final class RoutedStream(
    val access: StreamAccess,
    loan: Loan[KinesisClient],
    clock: Clock
) extends AutoCloseable {
  import RoutedStream._

  private val description = new StreamDescription(
    access.ref,
    () => loan.value.describeStream(access.ref),
    clock
  )
  private var current = Option.empty[(Traits, TargetStream)] // guarded by this object's monitor

  /** The stream's description, at most ten minutes old. Throws what [[StreamDescription]] does. */
  def summary(patience: FiniteDuration): StreamSummary = description.within(MaxAge, patience)

  /** A summary that is at most a minute old, because users may raise a stream's limits. */
  def freshSummary(patience: FiniteDuration): StreamSummary =
    description.within(StreamDescription.MinAge, patience)

  /**
   * A summary that is at most a second old, asked for once. Throws what [[StreamDescription]] does.
   */
  def newSummary(): StreamSummary = description.within(1.second, Duration.Zero)

  /**
   * The state that writers share, as long as the stream is the same and has the same properties.
   *
   * @param executors expected to write to it
   */
  def target(summary: StreamSummary, executors: Int): TargetStream = synchronized {
    val isAuto = summary.distribution.contains(RecordDistribution.Auto)
    val traits = Traits(
      summary.created,
      summary.maxRecordBytes,
      Option.when(isAuto)(summary.openShards)
    )
    val target =
      current.collect { case (`traits`, same) => same }.getOrElse(newTarget(traits, executors))
    target.expect(executors)
    current = Some(traits -> target)
    target
  }

  private def newTarget(traits: Traits, executors: Int) = new TargetStream(
    access.ref,
    loan.value,
    traits.maxRecordBytes,
    traits.spreads,
    executors,
    clock
  )

  override def close(): Unit = loan.close()
}

private[spark] object RoutedStream {
  private val MaxAge = 10.minutes

  /**
   * The properties that lanes and rates depend on.
   *
   * @param spreads see [[TargetStream]]
   */
  private final case class Traits(created: Instant, maxRecordBytes: Int, spreads: Option[Int])
}
