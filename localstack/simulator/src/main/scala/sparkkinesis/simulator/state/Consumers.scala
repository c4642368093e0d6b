package sparkkinesis.simulator.state

import java.time.Instant

import sparkkinesis.client.{ConsumerRef, ConsumerStatus, ConsumerSummary}
import sparkkinesis.model.{ConsumerArn, ShardId}

/**
 * @param active time when it is no longer `CREATING`
 * @param gone time when it is deleted, if that was requested
 * @param leases the last successful subscription to each shard
 */
private[simulator] final case class Consumer(
    arn: ConsumerArn,
    created: Instant,
    active: Instant,
    gone: Option[Instant],
    leases: Map[ShardId, Lease]
) {
  def status(now: Instant): ConsumerStatus =
    if (gone.nonEmpty) ConsumerStatus.Deleting
    else if (now.isBefore(active)) ConsumerStatus.Creating
    else ConsumerStatus.Active

  def isGone(now: Instant): Boolean = gone.exists(!now.isBefore(_))

  def summary(now: Instant): ConsumerSummary = ConsumerSummary(arn, status(now), created)
}

/**
 * The right of a subscription to read a shard for a consumer.
 *
 * @param number unique within the stream
 * @param since time of the successful call
 */
private[simulator] final case class Lease(number: Long, since: Instant)

/**
 * The consumers of a stream.
 *
 * @param byName includes deleted ones until their name is used again
 * @param leased number of leases so far
 */
private[simulator] final case class Consumers(byName: Map[String, Consumer], leased: Long) {
  def present(now: Instant): Vector[Consumer] =
    byName.valuesIterator.filterNot(_.isGone(now)).toVector.sortBy(_.arn.name)

  def count(now: Instant): Int = byName.valuesIterator.count(!_.isGone(now))

  def find(ref: ConsumerRef, now: Instant): Either[Failure, Consumer] = {
    val found = ref match {
      case ConsumerRef.ByArn(arn) => byName.get(arn.name).filter(_.arn == arn)
      case ConsumerRef.ByName(_, name) => byName.get(name)
    }
    found.filterNot(_.isGone(now)).toRight(Failure.notFound(s"Consumer $ref not found."))
  }

  def updated(consumer: Consumer): Consumers =
    copy(byName = byName.updated(consumer.arn.name, consumer))

  /** Gives the consumer a new lease of the shard. */
  def leased(consumer: Consumer, shard: ShardId, now: Instant): (Consumers, Lease) = {
    val lease = Lease(leased + 1, now)
    val holder = consumer.copy(leases = consumer.leases.updated(shard, lease))
    (updated(holder).copy(leased = lease.number), lease)
  }
}

private[simulator] object Consumers {
  val none: Consumers = Consumers(Map.empty, 0)
}
