package sparkkinesis.source.position

import java.time.Instant

import sparkkinesis.model.SequenceNumber

/** Where a new query, or a batch read, begins in a shard, as its user said. */
sealed trait StartingPosition

object StartingPosition {
  case object Latest extends StartingPosition
  case object TrimHorizon extends StartingPosition

  /** The first record that arrived then or later. */
  final case class AtTimestamp(instant: Instant) extends StartingPosition

  /** A record of one shard. */
  sealed trait Numbered extends StartingPosition {
    def number: SequenceNumber
  }

  /** That very record. */
  final case class At(number: SequenceNumber) extends Numbered

  /** The record behind that one. */
  final case class After(number: SequenceNumber) extends Numbered
}

/** Where a batch read ends in a shard, as its user said. */
sealed trait EndingPosition

object EndingPosition {

  /** Behind all that has arrived when the read is planned. */
  case object Latest extends EndingPosition

  /** Before the first record that arrived then or later: where `AtTimestamp` begins. */
  final case class Before(instant: Instant) extends EndingPosition

  /** With that very record. */
  final case class UpTo(number: SequenceNumber) extends EndingPosition
}
