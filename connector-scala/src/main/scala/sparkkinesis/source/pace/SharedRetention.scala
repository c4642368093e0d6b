package sparkkinesis.source.pace

import java.time.Instant
import java.util.concurrent.atomic.AtomicBoolean

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.client.{KinesisClient, KinesisException}
import sparkkinesis.model.StreamRef

/**
 * The retention period of one stream, described once for all readers of an executor, because an
 * account has few such calls per second. Thread-safe.
 */
final class SharedRetention {
  import SharedRetention._

  @volatile private var known = Option.empty[Known]
  private val isAsking = new AtomicBoolean

  /** The driver has described the stream. */
  def learn(retention: FiniteDuration, now: Instant): Unit =
    if (known.isEmpty) known = Some(Known(retention, now))

  /**
   * If the call fails, or while another reader makes it, the last known value is used, so that
   * reading does not wait for it.
   *
   * @param maxAge of the description
   * @throws KinesisException if the call fails and no value is known
   */
  def of(
      client: KinesisClient,
      stream: StreamRef,
      now: Instant,
      maxAge: FiniteDuration
  ): FiniteDuration = {
    def describe() = keep(client.describeStream(stream).retention, now)
    known match {
      case None => describe()
      case Some(it) if now.isBefore(it.at.plusMillis(maxAge.toMillis)) => it.retention
      case Some(it) if !isAsking.compareAndSet(false, true) => it.retention
      case Some(it) =>
        try describe()
        catch { case _: KinesisException => keep(it.retention, now) }
        finally isAsking.set(false)
    }
  }

  private def keep(retention: FiniteDuration, now: Instant): FiniteDuration = {
    known = Some(Known(retention, now))
    retention
  }
}

private object SharedRetention {
  private final case class Known(retention: FiniteDuration, at: Instant)
}
