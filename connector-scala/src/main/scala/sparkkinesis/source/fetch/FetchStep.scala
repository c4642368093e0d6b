package sparkkinesis.source.fetch

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.client.KinesisException
import sparkkinesis.source.DataLossException
import sparkkinesis.source.protocol.FetchReport

/** The result of one step of a [[ShardFetcher]]. */
sealed trait FetchStep {

  /** Whether the store had room for a page, which the step has used or given back. */
  def hadRoom: Boolean = true
}

object FetchStep {

  /**
   * A page was read.
   *
   * @param records number of records in the page
   * @param pause until the next step, before jitter
   * @param isUrgent whether the driver should receive the report at once
   */
  final case class Fetched(
      report: FetchReport,
      records: Int,
      pause: FiniteDuration,
      isUrgent: Boolean
  ) extends FetchStep

  /** The store has no room. The next step is when it may have room. */
  case object Waits extends FetchStep {
    override def hadRoom: Boolean = false
  }

  /** The shard's quota does not allow a call yet. */
  final case class Paced(pause: FiniteDuration) extends FetchStep {
    override def hadRoom: Boolean = false
  }

  /**
   * The service sends a page when it has one, and the fetcher is woken then.
   *
   * @param limit time to the next step if it is not woken
   */
  final case class Awaits(limit: FiniteDuration) extends FetchStep {
    override def hadRoom: Boolean = false
  }

  /** The iterator had expired. The next step gets a new one. */
  case object Expired extends FetchStep
  final case class Retries(failure: KinesisException, delay: FiniteDuration) extends FetchStep

  /** A retry would not help, or retries have failed for too long. */
  final case class Fails(failure: KinesisException) extends FetchStep

  final case class Loses(loss: DataLossException) extends FetchStep

  /** The shard is read to its end, or to the query's stop time. There is no next step. */
  case object Ended extends FetchStep
}
