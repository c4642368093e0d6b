package sparkkinesis.shard

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.client.Moment

/**
 * The time by the service's clock: the checkpoint contains only such times, because the clock of a
 * machine may be wrong. Kinesis reports it with each response, in whole seconds. Used by one thread
 * at a time.
 */
private[sparkkinesis] final class ServiceTime {
  import ServiceTime._

  private var aheadMillis = Option.empty[Long] // how far the own clock is ahead

  /**
   * A response arrived.
   *
   * @param own when the call began, by the clock of this machine
   * @param service time of the response, if it contains it
   */
  def observe(own: Instant, service: Option[Instant]): Unit = service.foreach { theirs =>
    val difference = own.toEpochMilli - theirs.toEpochMilli
    val isRight = difference < Resolution.toMillis && difference >= -LongestCall.toMillis
    aheadMillis = Some(if (isRight) 0L else difference)
  }

  /** The service's time when the clock of this machine shows `own`. */
  def at(own: Instant): Instant = own.minusMillis(aheadMillis.getOrElse(0L))

  def at(own: Moment): Moment = own.copy(now = at(own.now))

  /** A time that the service has certainly reached. */
  def reachedAt(own: Instant): Instant =
    if (aheadMillis.isEmpty) own.minusMillis(Margin.toMillis) else at(own)
}

private[sparkkinesis] object ServiceTime {
  private val Resolution = 1.second

  /** Between the beginning of a call and its response. */
  private val LongestCall = 1.minute

  /** The largest error of a clock that is assumed if no response contains the service's time. */
  val Margin: FiniteDuration = 10.minutes
}
