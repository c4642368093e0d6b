package sparkkinesis.simulator.quota

import java.time.Instant

import scala.concurrent.duration.FiniteDuration

/** How much of one limit has been used, as a value. */
private[simulator] trait Meter {

  /**
   * The meter after one more call or record; `None` if the limit forbids it.
   *
   * @param bytes size of the record or the page, for limits of bytes
   */
  def used(bytes: Long, now: Instant): Option[Meter]

  /** Whether the meter is as good as new, so that it can be dropped. */
  def isFresh(now: Instant): Boolean
}

/** A limit that may count what it refuses, too. */
private[simulator] trait RefusalMeter extends Meter {

  /** The meter after a record that it did not admit. */
  def refused(bytes: Long, now: Instant): Meter
}

private[simulator] object Meter {

  /** A number of calls per second. */
  final case class Calls(calls: Bucket) extends Meter {
    override def used(bytes: Long, now: Instant): Option[Meter] = calls.take(1, now).map(Calls)

    override def isFresh(now: Instant): Boolean = calls.isFull(now)
  }

  /** Pages and bytes per second that a shard returns. */
  final case class Reads(calls: Bucket, bytes: Bucket) extends Meter {
    override def used(size: Long, now: Instant): Option[Meter] =
      for {
        fewer <- calls.take(1, now)
        less <- bytes.overdraw(size, now)
      } yield Reads(fewer, less)

    override def isFresh(now: Instant): Boolean = calls.isFull(now) && bytes.isFull(now)
  }

  /**
   * A number of successful calls in any period of a fixed length.
   *
   * @param times times of the last calls, the oldest first
   */
  final case class Rolling(limit: Int, period: FiniteDuration, times: Vector[Instant])
      extends Meter {
    override def used(bytes: Long, now: Instant): Option[Meter] = {
      val recent = within(now)
      Option.when(recent.size < limit)(copy(times = recent :+ now))
    }

    override def isFresh(now: Instant): Boolean = within(now).isEmpty

    private def within(now: Instant): Vector[Instant] =
      times.filter(_.isAfter(now.minusNanos(period.toNanos)))
  }
}
