package sparkkinesis.source.checkpoint

import java.time.Instant
import java.time.format.DateTimeParseException

import sparkkinesis.compat._
import sparkkinesis.model.SequenceNumber
import sparkkinesis.model.offset.{Progress, ShardProgress}

/** The text of a shard in an offset: its progress, then `@` and `completeAsOf` in ms since 1970. */
private[checkpoint] object ShardText {
  private val TrimHorizonText = "trim_horizon"
  private val FinishedText = "finished"
  private val AtPrefix = "at:"
  private val FromPrefix = "from:"

  def encode(shard: ShardProgress): String = {
    val progress = shard.progress match {
      case Progress.TrimHorizon => TrimHorizonText
      case Progress.AtTimestamp(instant) => AtPrefix + instant
      case Progress.From(sequenceNumber) => FromPrefix + sequenceNumber.text
      case Progress.After(sequenceNumber) => sequenceNumber.text
      case Progress.Finished => FinishedText
    }
    progress + shard.completeAsOf.fold("")(instant => s"@${instant.toEpochMilli}")
  }

  /** A shard that waits for none. `None` if the text is not one of a shard. */
  def decode(text: String): Option[ShardProgress] =
    text.indexOf('@') match {
      case -1 => progressOf(text).map(ShardProgress(_, Set.empty, None))
      case at =>
        for {
          progress <- progressOf(text.take(at))
          millis <- text.drop(at + 1).toLongOption.filter(_ > 0)
        } yield ShardProgress(progress, Set.empty, Some(Instant.ofEpochMilli(millis)))
    }

  private def progressOf(text: String): Option[Progress] = text match {
    case TrimHorizonText => Some(Progress.TrimHorizon)
    case FinishedText => Some(Progress.Finished)
    case _ if text.startsWith(AtPrefix) =>
      instant(text.stripPrefix(AtPrefix)).map(Progress.AtTimestamp(_))
    case _ if text.startsWith(FromPrefix) =>
      SequenceNumber.parse(text.stripPrefix(FromPrefix)).map(Progress.From(_))
    case _ => SequenceNumber.parse(text).map(Progress.After(_))
  }

  /** `None` if the text is not a time in ISO-8601. */
  def instant(text: String): Option[Instant] =
    try Some(Instant.parse(text))
    catch { case _: DateTimeParseException => None }
}
