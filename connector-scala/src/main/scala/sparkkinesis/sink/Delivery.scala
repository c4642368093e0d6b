package sparkkinesis.sink

import scala.annotation.tailrec
import scala.concurrent.duration._
import scala.jdk.DurationConverters._

import sparkkinesis.client._
import sparkkinesis.model._

/**
 * Brings one batch to Kinesis: what failed is sent again, alone, after a back-off, until all is
 * acknowledged or the delivery timeout is over.
 *
 * @param chance evenly distributed in `[0, 1)`
 * @param acknowledged called with the records and bytes that are now written
 * @param waiting the writer's records that are not, for messages
 */
private[sink] final class Delivery(
    client: KinesisClient,
    stream: StreamRef,
    timeout: FiniteDuration,
    clock: Clock,
    chance: () => Double,
    counters: SinkCounters,
    acknowledged: (Int, Long) => Unit,
    waiting: () => Long
) {
  import Delivery._

  /**
   * Returns when every record is acknowledged.
   *
   * @throws DeliveryTimeoutException the batch is older than the timeout
   * @throws KinesisException what waiting does not mend
   */
  def run(batch: Batch): Unit = attempt(batch, failures = 0, first = None)

  /**
   * @param failures in a row, without any record written
   * @param first what went wrong first
   */
  @tailrec
  private def attempt(batch: Batch, failures: Int, first: Option[Failure]): Unit =
    send(batch) match {
      case None => ()
      case Some(failure) =>
        val cause = first.getOrElse(failure)
        val progress = failure.rest.entries.size < batch.entries.size
        val inARow = if (progress) 1 else failures + 1
        awaitRetry(failure.rest, inARow, cause)
        counters.retried.add(failure.rest.entries.size.toLong)
        attempt(failure.rest, inARow, Some(cause))
    }

  /** What must be sent again, and why. */
  private def send(batch: Batch): Option[Failure] = {
    counters.requests.increment()
    try unwritten(batch, client.putRecords(stream, batch.entries))
    catch {
      case e: KinesisException if e.isRetryable =>
        if (isThrottling(e)) counters.throttled.add(batch.entries.size.toLong)
        Some(Failure(batch, e.getMessage, Some(e)))
    }
  }

  private def unwritten(batch: Batch, results: Seq[PutResult]): Option[Failure] = {
    if (results.size != batch.entries.size)
      throw new KinesisException.ServiceFailure(
        s"PutRecords of stream $stream answered ${results.size} results " +
          s"for ${batch.entries.size} records."
      )
    val failed = results.collect { case failure: PutResult.Failed => failure }
    failed.find(isPermanent).foreach(failure => throw refused(failure))
    counters.throttled.add(failed.count(isThrottling).toLong)
    val states = results.toVector
    val rest = batch.select(i => states(i).isInstanceOf[PutResult.Failed])
    acknowledge(batch.entries.size - rest.entries.size, batch.bytes - rest.bytes)
    failed.headOption.map(it => Failure(rest, s"${it.message} (${it.errorCode})", None))
  }

  private def acknowledge(records: Int, bytes: Long): Unit = {
    counters.records.add(records.toLong)
    counters.bytes.add(bytes)
    acknowledged(records, bytes)
  }

  private def awaitRetry(rest: Batch, failures: Int, first: Failure): Unit = {
    val deadline = rest.since.plus(timeout.toJava)
    val left = java.time.Duration.between(clock.now, deadline).toMillis
    if (left <= 0) throw timedOut(rest, first)
    val delay = Backoffs.delay(failures, chance())
    clock.sleep(delay.min(left.millis))
  }

  private def refused(failure: PutResult.Failed): KinesisException =
    new KinesisException.InvalidArgument(
      s"PutRecords of stream $stream refused a record: ${failure.message} (${failure.errorCode})."
    )

  private def timedOut(rest: Batch, first: Failure): DeliveryTimeoutException =
    new DeliveryTimeoutException(
      s"Stream $stream did not take ${rest.entries.size} records within $timeout " +
        s"(deliveryTimeout); ${waiting()} records of this task wait. " +
        s"The first failure was: ${first.message}",
      first.cause.orNull
    )
}

private[sink] object Delivery {
  private val Backoffs = Backoff(base = 100.millis, cap = 5.seconds)

  private final case class Failure(rest: Batch, message: String, cause: Option[KinesisException])

  private val ThrottlingCodes =
    Set("ProvisionedThroughputExceededException", "KMSThrottlingException", "ThrottlingException")

  /** Codes of single records that no waiting mends. The service documents none; emulators have. */
  private val PermanentCodes = Set(
    "InvalidArgumentException",
    "ValidationException",
    "ResourceNotFoundException",
    "AccessDeniedException",
    "KMSAccessDeniedException",
    "KMSDisabledException",
    "KMSNotFoundException",
    "KMSOptInRequired"
  )

  private def isThrottling(failure: PutResult.Failed): Boolean = ThrottlingCodes(failure.errorCode)

  private def isPermanent(failure: PutResult.Failed): Boolean = PermanentCodes(failure.errorCode)

  private def isThrottling(e: KinesisException): Boolean = e match {
    case _: KinesisException.Throttled | _: KinesisException.LimitExceeded => true
    case _ => false
  }
}
