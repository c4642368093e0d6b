package sparkkinesis.model

import java.time.Instant

/** Where in a shard to begin: the five types of `GetShardIterator`. */
sealed trait Position

object Position {

  /** The oldest record kept. */
  case object TrimHorizon extends Position

  /** Behind the newest record. */
  case object Latest extends Position

  /** The first record that arrived at or after the instant (whole milliseconds). */
  final case class AtTimestamp(instant: Instant) extends Position

  /** That very record. */
  final case class AtSequenceNumber(sequenceNumber: SequenceNumber) extends Position

  /** The record behind that one. */
  final case class AfterSequenceNumber(sequenceNumber: SequenceNumber) extends Position
}
