package sparkkinesis.shard.feed

import java.time.Instant

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.client.KinesisException
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{ChildShard, PackedRecords}
import sparkkinesis.shard.DataLossException

/**
 * The result of one step of a reader.
 *
 * @tparam P what the reader makes of a page
 */
private[sparkkinesis] sealed trait ReadStep[+P]

private[sparkkinesis] object ReadStep {

  /**
   * A page was read.
   *
   * @param pause until the next step, before jitter
   */
  final case class Read[P](page: P, pause: FiniteDuration) extends ReadStep[P]

  /** A step without a page. */
  sealed trait NoPage extends ReadStep[Nothing]

  /** Why a feed has no page yet. */
  sealed trait NotYet extends NoPage

  /** Whether a feed makes sense to ask. */
  sealed trait Readiness

  /** The feed is ready if there is room for a page. */
  case object NeedsRoom extends Readiness

  /** The feed is ready without room, because a page has arrived or something else has happened. */
  case object HasNews extends Readiness

  /** There is no room for a page. The next step is when there may be. */
  case object NoRoom extends NoPage

  /** There was no memory for the page, which has so many bytes. */
  final case class TooLarge(bytes: Long) extends NotYet

  /** The shard's quota does not allow a call yet. */
  final case class Paced(pause: FiniteDuration) extends NotYet with Readiness

  /**
   * The service was asked for a page, and sends it when it has one. The reader is woken then.
   *
   * @param limit after this time it makes sense to ask again
   */
  final case class Awaits(limit: FiniteDuration) extends NotYet with Readiness

  /** The iterator had expired. The next step gets a new one. */
  case object Expired extends NoPage

  /** Records seem to be missing. One answer may be wrong, so the next step asks again. */
  final case class Doubts(delay: FiniteDuration) extends NoPage
  final case class Retries(failure: KinesisException, delay: FiniteDuration) extends NoPage

  /** A retry would not help, or retries have failed for too long. */
  final case class Fails(failure: KinesisException) extends NoPage

  final case class Loses(loss: DataLossException) extends NoPage

  /** The shard is read to its end, or to the reader's goal. There is no next step. */
  case object Ended extends NoPage
}

/**
 * The part of a page that is wanted.
 *
 * @param from the progress before the page
 * @param isEnd whether the shard ends with the page
 * @param children of the shard if it ends
 * @param millisBehind as the service says; `None` if unknown
 * @param completeAsOf all records that arrived before have been read, if the page says more about
 *   that than the one before
 */
private[sparkkinesis] final case class ReadPage(
    records: PackedRecords,
    from: Progress,
    isEnd: Boolean,
    children: Seq[ChildShard],
    millisBehind: Option[Long],
    completeAsOf: Option[Instant]
)
