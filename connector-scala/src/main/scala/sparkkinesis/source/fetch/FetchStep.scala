package sparkkinesis.source.fetch

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.client.KinesisException
import sparkkinesis.source.DataLossException
import sparkkinesis.source.protocol.FetchReport

/** What a step of a [[ShardFetcher]] came to. */
sealed trait FetchStep

object FetchStep {

  /**
   * @param isNews worth telling the driver at once
   * @param pause until the next step, before jitter
   */
  final case class Fetched(
      report: FetchReport,
      records: Int,
      pause: FiniteDuration,
      isNews: Boolean
  ) extends FetchStep

  /** There is no room. */
  final case class Waits(pause: FiniteDuration) extends FetchStep

  /** The iterator was too old; the next step takes another. */
  case object Expired extends FetchStep
  final case class Retries(failure: KinesisException, delay: FiniteDuration) extends FetchStep

  /** Trying again would not help, or has not helped for long. */
  final case class Fails(failure: KinesisException) extends FetchStep

  final case class Loses(loss: DataLossException) extends FetchStep

  /** Read to the shard's end, or to where the query ends: no further step. */
  case object Ended extends FetchStep
}
