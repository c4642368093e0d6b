package sparkkinesis.source.position

import java.time.temporal.ChronoUnit
import java.time.{DateTimeException, Instant, OffsetDateTime}
import java.util.Locale

import sparkkinesis.client.options.Options
import sparkkinesis.model.{SequenceNumber, StreamRef}

/**
 * How positions are said: for all streams by a word or an instant, or in JSON for each
 * ([[PositionsJson]]).
 *
 * @param option whose value it is
 * @param words in lower case, with those first that messages name
 * @param at what an instant means
 * @param numbered what a sequence number means, by the name before it
 */
final case class PositionGrammar[A](
    option: String,
    words: Seq[(String, A)],
    at: Instant => A,
    numbered: Seq[(String, SequenceNumber => A)]
) {
  private val told = words.map(_._1).filterNot(_ == PositionGrammar.Synonym).mkString(", ")

  /** For messages, on "expected ...". */
  val expected: String = s"$told, or an instant such as 2026-11-21T08:00:00Z"

  /**
   * A position for each of the streams; `None` where nothing is said.
   *
   * @throws sparkkinesis.client.options.OptionException where the value is not of this grammar
   */
  def parse(options: Options, streams: Seq[StreamRef]): Option[Map[StreamRef, ByShard[A]]] =
    options.text(option).map { text =>
      if (text.startsWith("{")) new PositionsJson(this, options, streams).parse(text)
      else {
        val position = word(text).getOrElse {
          throw options.invalid(
            option,
            s"$expected, or JSON of them for each stream",
            "An instant needs its zone."
          )
        }
        streams.map(_ -> ByShard(position)).toMap
      }
    }

  def word(text: String): Option[A] = {
    val lower = text.toLowerCase(Locale.ROOT)
    words.collectFirst { case (`lower`, position) => position }.orElse(instant(text).map(at))
  }

  /**
   * ISO-8601 with `Z` or an offset. Records arrive at whole milliseconds: what arrived "at or after" an
   * instant between two of them did so at or after the later one.
   */
  private def instant(text: String): Option[Instant] =
    try Some(OffsetDateTime.parse(text).toInstant.plusNanos(999999).truncatedTo(ChronoUnit.MILLIS))
    catch { case _: DateTimeException => None }
}

object PositionGrammar {
  private val Synonym = "earliest"

  val Start: PositionGrammar[StartingPosition] = PositionGrammar(
    "startingPosition",
    Seq(
      "latest" -> StartingPosition.Latest,
      "trim_horizon" -> StartingPosition.TrimHorizon,
      Synonym -> StartingPosition.TrimHorizon
    ),
    StartingPosition.AtTimestamp(_),
    Seq("at" -> StartingPosition.At, "after" -> StartingPosition.After)
  )

  val End: PositionGrammar[EndingPosition] = PositionGrammar(
    "endingPosition",
    Seq("latest" -> EndingPosition.Latest),
    EndingPosition.Before(_),
    Seq("at" -> EndingPosition.UpTo)
  )
}
