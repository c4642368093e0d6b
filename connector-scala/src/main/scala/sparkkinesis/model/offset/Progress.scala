package sparkkinesis.model.offset

import java.time.Instant

import sparkkinesis.model.{Position, SequenceNumber}

/** How far one shard has been read. It is always between two Kinesis records, never inside one. */
private[sparkkinesis] sealed trait Progress

private[sparkkinesis] object Progress {

  /** Nothing has been read. Reading starts at the oldest record. */
  case object TrimHorizon extends Progress

  /**
   * Nothing has been read. Reading starts with the records that arrived at or after the instant.
   */
  final case class AtTimestamp(instant: Instant) extends Progress

  /** Nothing has been read. Reading starts at this record. */
  final case class From(sequenceNumber: SequenceNumber) extends Progress

  /** The shard has been read up to and including this record. */
  final case class After(sequenceNumber: SequenceNumber) extends Progress

  /** The shard has been read to its end. Its children may follow. */
  case object Finished extends Progress

  /** Whether nothing has been read, so that no record before the progress identifies it. */
  def isStart(progress: Progress): Boolean = progress match {
    case TrimHorizon | _: AtTimestamp | _: From => true
    case _: After | Finished => false
  }

  /** The position of the next read. `None` at the end of the shard. */
  def position(progress: Progress): Option[Position] = progress match {
    case TrimHorizon => Some(Position.TrimHorizon)
    case AtTimestamp(instant) => Some(Position.AtTimestamp(instant))
    case From(sequenceNumber) => Some(Position.AtSequenceNumber(sequenceNumber))
    case After(sequenceNumber) => Some(Position.AfterSequenceNumber(sequenceNumber))
    case Finished => None
  }
}
