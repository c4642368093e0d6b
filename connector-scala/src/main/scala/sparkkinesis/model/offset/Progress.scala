package sparkkinesis.model.offset

import java.time.Instant

import sparkkinesis.model.{Position, SequenceNumber}

/** How far one shard has been read. Always between whole Kinesis records. */
sealed trait Progress

object Progress {

  /** Nothing read yet, and everything still kept is wanted. */
  case object TrimHorizon extends Progress

  /** Nothing read yet; wanted is what arrived at or after the instant. */
  final case class AtTimestamp(instant: Instant) extends Progress

  /** Nothing read yet; wanted is that record and what lies behind it. */
  final case class From(sequenceNumber: SequenceNumber) extends Progress

  /** Read up to this record and including it. */
  final case class After(sequenceNumber: SequenceNumber) extends Progress

  /** Read to the shard's end: its children may follow. */
  case object Finished extends Progress

  /** Where reading goes on; `None` behind the end. */
  def position(progress: Progress): Option[Position] = progress match {
    case TrimHorizon => Some(Position.TrimHorizon)
    case AtTimestamp(instant) => Some(Position.AtTimestamp(instant))
    case From(sequenceNumber) => Some(Position.AtSequenceNumber(sequenceNumber))
    case After(sequenceNumber) => Some(Position.AfterSequenceNumber(sequenceNumber))
    case Finished => None
  }
}
