package sparkkinesis.source.replay

import java.time.Instant

import org.slf4j.LoggerFactory

import sparkkinesis.client.{Clock, Page}
import sparkkinesis.source.fetch.RetentionCheck
import sparkkinesis.source.protocol.ShardRange
import sparkkinesis.source.{DataLoss, DataLossException, ServiceTime, StreamClient}

/**
 * The records that are missing from ranges. With `failOnDataLoss` a loss is thrown; without, it is
 * logged and counted.
 */
private[replay] final class RangeLosses(
    stream: StreamClient,
    failOnDataLoss: Boolean,
    clock: Clock
) {
  private val log = LoggerFactory.getLogger(classOf[RangeLosses])
  private val retention = new RetentionCheck(stream)
  private val time = new ServiceTime
  private var tolerated = 0L
  private var isTolerated = false // whether a loss at the start of the range was counted

  /** Number of losses that were not thrown. */
  def count: Long = tolerated

  /** A page arrived of a call that began at `own`. */
  def observe(own: Instant, page: Page): Unit = time.observe(own, page.serverTime)

  /** Begins another range. */
  def begin(): Unit = isTolerated = false

  /** @throws DataLossException with `failOnDataLoss` */
  def report(loss: DataLossException): Unit = {
    if (failOnDataLoss) throw loss
    tolerated += 1
    log.warn(DataLoss.tolerated(loss.getMessage))
  }

  /** Kinesis no longer has the first record of the range. */
  def firstMissing(range: ShardRange): Unit = {
    val number = range.first.map(_.text).mkString
    reportStart(of(range, s"its first record, $number, is gone"))
  }

  /** Reports a loss at the start of a range. It has one cause, so it counts once. */
  private def reportStart(loss: => DataLossException): Unit = if (!isTolerated) {
    report(loss)
    isTolerated = true
  }

  /**
   * Checks where a range starts, and also later pages of a batch query: its last record is not
   * known, so a loss on the way is not noticed otherwise.
   *
   * @param completeAsOf all records of the range that arrived before have been read
   * @throws sparkkinesis.client.KinesisException if this cannot be decided at present
   */
  def checkRetention(range: ShardRange, isStart: Boolean, completeAsOf: Option[Instant]): Unit = {
    val isChecked = !isTolerated && (isStart || range.until.nonEmpty)
    if (isChecked && completeAsOf.exists(retention.hasPassed(_, now))) {
      val where = if (isStart) "start" else "current position"
      reportStart(of(range, s"records at its $where have been trimmed", completeAsOf))
    }
  }

  private def now = time.at(clock.moment)

  def of(range: ShardRange, reason: String): DataLossException =
    of(range, reason, range.completeAsOf)

  private def of(
      range: ShardRange,
      reason: String,
      completeAsOf: Option[Instant]
  ): DataLossException = {
    val extent = retention.extent(completeAsOf, now)
    new DataLossException(stream.ref, range, s"$reason ($extent)")
  }
}
