package sparkkinesis.simulator.state

import java.time.Instant

import sparkkinesis.model.{ShardId, StreamArn}

/**
 * The ARN of a consumer, for example
 * `arn:aws:kinesis:eu-west-1:123456789012:stream/orders/consumer/me:1700000000`.
 *
 * @param createdSecond seconds since 1970, which distinguish consumers that were registered under
 *   one name
 */
final case class ConsumerArn(stream: StreamArn, name: String, createdSecond: Long) {
  override def toString: String = s"$stream/consumer/$name:$createdSecond"
}

object ConsumerArn {
  private val Pattern = s"(.+)/consumer/(${Identifier.Pattern}):(\\d{1,12})".r

  /** `None` if the text is not a consumer's ARN. */
  def parse(text: String): Option[ConsumerArn] = text match {
    case Pattern(stream, name, second) =>
      StreamArn.parse(stream).map(ConsumerArn(_, name, second.toLong))
    case _ => None
  }
}

sealed trait ConsumerStatus

object ConsumerStatus {
  case object Creating extends ConsumerStatus
  case object Active extends ConsumerStatus
  case object Deleting extends ConsumerStatus
}

/** The description of a consumer. */
final case class ConsumerSummary(arn: ConsumerArn, status: ConsumerStatus, created: Instant)

/** How a caller names a consumer. */
sealed trait ConsumerRef {
  def stream: StreamArn
}

object ConsumerRef {
  final case class ByArn(arn: ConsumerArn) extends ConsumerRef {
    override def stream: StreamArn = arn.stream
  }

  final case class ByName(stream: StreamArn, name: String) extends ConsumerRef

  private[simulator] def isName(text: String): Boolean = Identifier.fits(text)
}

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
    found.filterNot(_.isGone(now)).toRight(Failure.notFound(s"Consumer ${text(ref)} not found."))
  }

  def updated(consumer: Consumer): Consumers =
    copy(byName = byName.updated(consumer.arn.name, consumer))

  /** Gives the consumer a new lease of the shard. */
  def leased(consumer: Consumer, shard: ShardId, now: Instant): (Consumers, Lease) = {
    val lease = Lease(leased + 1, now)
    val holder = consumer.copy(leases = consumer.leases.updated(shard, lease))
    (updated(holder).copy(leased = lease.number), lease)
  }

  private def text(ref: ConsumerRef): String = ref match {
    case ConsumerRef.ByArn(arn) => arn.toString
    case ConsumerRef.ByName(stream, name) => s"$name of stream ${stream.name}"
  }
}

private[simulator] object Consumers {
  val none: Consumers = Consumers(Map.empty, 0)
}
