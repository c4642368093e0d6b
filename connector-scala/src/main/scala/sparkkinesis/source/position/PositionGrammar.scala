package sparkkinesis.source.position

import java.time.temporal.ChronoUnit
import java.time.{DateTimeException, Instant, OffsetDateTime}
import java.util.Locale

import sparkkinesis.model.{Position, SequenceNumber}

/**
 * The words of one position option. [[PositionParser]] reads its values.
 *
 * @param option the option's name
 * @param words in lower case
 * @param at the meaning of a time
 * @param numbered the meaning of a sequence number, by the key in front of it
 */
final case class PositionGrammar[A](
    option: String,
    words: Seq[(String, A)],
    at: Instant => A,
    numbered: Seq[(String, SequenceNumber => A)]
) {

  /** The accepted values, for messages. */
  val expected: String = {
    val named = words.map(_._1).filterNot(_ == PositionGrammar.Synonym)
    s"${named.mkString(", ")}, or an instant such as 2026-11-21T08:00:00Z"
  }

  /** The meaning of a word or a time; `None` for any other text. */
  def position(text: String): Option[A] = {
    val lower = text.toLowerCase(Locale.ROOT)
    words.collectFirst { case (`lower`, position) => position }.orElse(instant(text).map(at))
  }

  /**
   * ISO 8601 with `Z` or an offset, rounded up to milliseconds: Kinesis reports arrival times in
   * whole milliseconds, so no record arrives between the two.
   */
  private def instant(text: String): Option[Instant] =
    try Some(OffsetDateTime.parse(text).toInstant.plusNanos(999999).truncatedTo(ChronoUnit.MILLIS))
    catch { case _: DateTimeException => None }
}

object PositionGrammar {
  private val Synonym = "earliest" // accepted, but not advertised

  val Start: PositionGrammar[Position] = PositionGrammar(
    "startingPosition",
    Seq(
      "latest" -> Position.Latest,
      "trim_horizon" -> Position.TrimHorizon,
      Synonym -> Position.TrimHorizon
    ),
    Position.AtTimestamp(_),
    Seq("at" -> Position.AtSequenceNumber, "after" -> Position.AfterSequenceNumber)
  )

  val End: PositionGrammar[EndingPosition] = PositionGrammar(
    "endingPosition",
    Seq("latest" -> EndingPosition.Latest),
    EndingPosition.Before(_),
    Seq("at" -> EndingPosition.UpTo)
  )
}
