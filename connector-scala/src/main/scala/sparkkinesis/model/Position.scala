package sparkkinesis.model

import java.time.Instant

/** A position in a shard: one of the five types of `GetShardIterator`. */
private[sparkkinesis] sealed trait Position

private[sparkkinesis] object Position {

  /** The oldest record within the retention period. */
  case object TrimHorizon extends Position

  /** The position after the newest record. */
  case object Latest extends Position

  /** The first record that arrived at or after the instant (whole milliseconds). */
  final case class AtTimestamp(instant: Instant) extends Position

  /** The record with this sequence number. */
  final case class AtSequenceNumber(sequenceNumber: SequenceNumber) extends Position

  /** The next record after this sequence number. */
  final case class AfterSequenceNumber(sequenceNumber: SequenceNumber) extends Position
}
