package sparkkinesis.simulator.quota

import java.time.Instant

import scala.concurrent.duration.FiniteDuration

/** What has been used of one limit, as a value. */
private[simulator] sealed trait Meter {

  /**
   * After one more call or record, unless the limit forbids it: then nothing is used.
   *
   * @param bytes of the record or of the page; other limits do not ask
   */
  def used(bytes: Long, now: Instant): Option[Meter]

  /** As good as new: there is nothing to remember. */
  def isFresh(now: Instant): Boolean
}

private[simulator] object Meter {

  /** So many calls a second. */
  final case class Calls(calls: Bucket) extends Meter {
    override def used(bytes: Long, now: Instant): Option[Meter] = calls.take(1, now).map(Calls)

    override def isFresh(now: Instant): Boolean = calls.isFull(now)
  }

  /** What a shard takes: records, and bytes of them, a second. */
  final case class Writes(records: Bucket, bytes: Bucket) extends Meter {
    override def used(size: Long, now: Instant): Option[Meter] =
      for {
        fewer <- records.take(1, now)
        less <- bytes.take(size, now)
      } yield Writes(fewer, less)

    override def isFresh(now: Instant): Boolean = records.isFull(now) && bytes.isFull(now)
  }

  /** What a shard gives: pages, and bytes of them, a second. */
  final case class Reads(calls: Bucket, bytes: Bucket) extends Meter {
    override def used(size: Long, now: Instant): Option[Meter] =
      for {
        fewer <- calls.take(1, now)
        less <- bytes.overdraw(size, now)
      } yield Reads(fewer, less)

    override def isFresh(now: Instant): Boolean = calls.isFull(now) && bytes.isFull(now)
  }

  /**
   * So many successes in any period of that length.
   *
   * @param times of the last ones, the oldest first
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
