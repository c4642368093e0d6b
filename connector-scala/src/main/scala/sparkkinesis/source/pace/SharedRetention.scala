package sparkkinesis.source.pace

import java.time.Instant
import java.util.concurrent.atomic.AtomicBoolean

import scala.concurrent.duration._

import sparkkinesis.client.{KinesisClient, KinesisException}
import sparkkinesis.model.StreamRef

/**
 * The retention period of one stream, described once for all readers of an executor, because an
 * account has few such calls per second. After a failure it makes no call for a second. All times
 * are of a clock that never jumps. Thread-safe.
 */
final class SharedRetention {
  import SharedRetention._

  @volatile private var known = Option.empty[Known]
  @volatile private var failed = Option.empty[Failed]
  private val isAsking = new AtomicBoolean

  /** The driver described the stream, perhaps long ago. */
  def learn(retention: FiniteDuration, now: Instant): Unit =
    if (known.isEmpty) known = Some(Known(retention, now, isDescribed = false))

  /**
   * Asks at most every ten minutes. If that is not possible, the last known value is used, so that
   * reading does not wait for it.
   *
   * @throws KinesisException if no value is known, and it cannot be asked for at present
   */
  def latest(client: KinesisClient, stream: StreamRef, now: Instant): FiniteDuration =
    known match {
      case None => describe(client, stream, now)
      case Some(it) if it.isWithin(CacheTime, now) => it.retention
      case Some(it) =>
        try describe(client, stream, now)
        catch { case _: KinesisException => it.retention }
    }

  /**
   * The retention period by a description that this executor made at most a minute ago.
   *
   * @throws KinesisException if the call fails, failed a moment ago, or another reader makes it
   */
  def proven(client: KinesisClient, stream: StreamRef, now: Instant): FiniteDuration =
    known.filter(it => it.isDescribed && it.isWithin(ProofTime, now)) match {
      case Some(it) => it.retention
      case None => describe(client, stream, now)
    }

  private def describe(client: KinesisClient, stream: StreamRef, now: Instant): FiniteDuration = {
    failed.filter(it => now.isBefore(it.until)).foreach(it => throw it.cause)
    if (!isAsking.compareAndSet(false, true))
      throw new KinesisException.LimitExceeded(
        s"Another reader is asking for the retention period of stream $stream."
      )
    try {
      val retention = client.describeStream(stream).retention
      known = Some(Known(retention, now, isDescribed = true))
      retention
    } catch {
      case cause: KinesisException =>
        failed = Some(Failed(cause, now.plusMillis(Pause.toMillis)))
        throw cause
    } finally isAsking.set(false)
  }
}

private object SharedRetention {

  /** A changed retention period takes effect after this time. */
  private val CacheTime = 10.minutes

  /** A loss is not reported because of an older description. */
  private val ProofTime = 1.minute

  private val Pause = 1.second

  private final case class Known(retention: FiniteDuration, at: Instant, isDescribed: Boolean) {
    def isWithin(age: FiniteDuration, now: Instant): Boolean =
      now.isBefore(at.plusMillis(age.toMillis))
  }
  private final case class Failed(cause: KinesisException, until: Instant)
}
