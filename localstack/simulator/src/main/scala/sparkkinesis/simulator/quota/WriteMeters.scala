package sparkkinesis.simulator.quota

import java.time.Instant

import scala.annotation.tailrec
import scala.concurrent.duration._

import sparkkinesis.model.ServiceLimits.{
  WriteBytesPerSecond => BytesPerSecond,
  WriteRecordsPerSecond => RecordsPerSecond
}
import sparkkinesis.simulator.state.WriteQuota

/** The meters of what a shard accepts, one kind per [[WriteQuota]]. */
private[simulator] object WriteMeters {

  private val Second = 1.second.toNanos
  private val StepTime = 20.seconds.toNanos

  /** A shard that was not written to for so long is as good as new. */
  private val StepMemory = 1.hour.toNanos

  /** The meter before any use. */
  def fresh(quota: WriteQuota)(now: Instant): Meter = quota match {
    case WriteQuota.Bucket => bucket(1, 1, now)
    case WriteQuota.Window => Window(0, 0, now, countsRefused = false)
    case WriteQuota.CountingWindow => Window(0, 0, now, countsRefused = true)
    case WriteQuota.Rolling => Rolling(Vector.empty)
    case WriteQuota.Smooth => bucket(1, 10, now)
    case WriteQuota.Shared => bucket(2, 1, now)
    case WriteQuota.Steps => Steps(now, now, 4, bucket(4, 4, now))
  }

  /**
   * @param slower divides the rate
   * @param smaller divides the capacity, which is the amount of one second otherwise
   */
  private def bucket(slower: Long, smaller: Long, now: Instant) = Buckets(
    Bucket.full(RecordsPerSecond / slower, now, RecordsPerSecond / smaller),
    Bucket.full(BytesPerSecond / slower, now, BytesPerSecond / smaller)
  )

  /** A larger record uses the shard for longer. */
  private def nanosOf(size: Long): Long =
    math.max(Second, (size * (Second.toDouble / BytesPerSecond)).toLong)

  final case class Buckets(records: Bucket, bytes: Bucket) extends Meter {
    override def used(size: Long, now: Instant): Option[Buckets] =
      for {
        fewer <- records.take(1, now)
        less <- bytes.take(size, now)
      } yield Buckets(fewer, less)

    override def isFresh(now: Instant): Boolean = records.isFull(now) && bytes.isFull(now)
  }

  /** @param end of the current second. A record larger than its amount passes first, and alone */
  final case class Window(records: Long, bytes: Long, end: Instant, countsRefused: Boolean)
      extends RefusalMeter {
    override def used(size: Long, now: Instant): Option[Meter] =
      if (!now.isBefore(end)) Some(copy(1, size, now.plusNanos(nanosOf(size))))
      else
        Option.when(records + 1 <= RecordsPerSecond && bytes + size <= BytesPerSecond)(more(size))

    override def refused(size: Long, now: Instant): Meter = if (countsRefused) more(size) else this

    private def more(size: Long) = copy(records = records + 1, bytes = bytes + size)

    override def isFresh(now: Instant): Boolean = !now.isBefore(end)
  }

  /** @param recent what counts, by the time at which it no longer counts, the oldest first */
  final case class Rolling(recent: Vector[(Instant, Long)], bytes: Long = 0) extends RefusalMeter {
    override def used(size: Long, now: Instant): Option[Meter] = {
      val rest = within(now)
      val fits = rest.recent.size < RecordsPerSecond && rest.bytes + size <= BytesPerSecond
      Option.when(fits || rest.recent.isEmpty)(rest.and(size, now.plusNanos(nanosOf(size))))
    }

    override def refused(size: Long, now: Instant): Meter =
      within(now).and(size, now.plusNanos(Second))

    private def and(size: Long, until: Instant) = Rolling(recent :+ (until -> size), bytes + size)

    @tailrec private def within(now: Instant): Rolling = recent.headOption match {
      case Some((until, size)) if !now.isBefore(until) =>
        Rolling(recent.tail, bytes - size).within(now)
      case _ => this
    }

    override def isFresh(now: Instant): Boolean = within(now).recent.isEmpty
  }

  /**
   * @param first when the shard was first written to
   * @param last when it was last written to
   * @param slower the divisor of the rate of the buckets
   */
  final case class Steps(first: Instant, last: Instant, slower: Long, buckets: Buckets)
      extends Meter {
    override def used(size: Long, now: Instant): Option[Meter] = {
      val current = slowerAt(now)
      val before = if (current == slower) buckets else bucket(current, current, now)
      before.used(size, now).map(Steps(first, now, current, _))
    }

    private def slowerAt(now: Instant): Long =
      if (now.isBefore(first.plusNanos(StepTime))) 4
      else if (now.isBefore(first.plusNanos(2 * StepTime))) 2
      else 1

    override def isFresh(now: Instant): Boolean = !now.isBefore(last.plusNanos(StepMemory))
  }
}
