package sparkkinesis.source.position

import java.time.Instant

import sparkkinesis.model.{SequenceNumber, ShardId}

/**
 * A value for each of a stream's shards.
 *
 * @param others the value of every shard that `named` lacks
 */
final case class ByShard[+A](others: A, named: Map[ShardId, A] = Map.empty[ShardId, Nothing]) {
  def of(shard: ShardId): A = named.getOrElse(shard, others)

  def all: Seq[A] = (named.values ++ Seq(others)).toSeq
}

/** Where a batch read ends in a shard. It begins at a [[sparkkinesis.model.Position]]. */
sealed trait EndingPosition

object EndingPosition {

  /** The end after all records that have arrived when the read is planned. */
  case object Latest extends EndingPosition

  /** The end before the first record that arrived at that time or later. */
  final case class Before(instant: Instant) extends EndingPosition

  /** The end after the record with that number. */
  final case class UpTo(number: SequenceNumber) extends EndingPosition
}
