package sparkkinesis.spark.once

import java.time.Instant

import scala.util.Try

import sparkkinesis.sink.once.RowTotal

/**
 * A batch write whose rows are all in the stream.
 *
 * @param content as in its attempts
 * @param at when it was complete, by the driver's clock
 * @param total of its rows, without bad rows
 */
private[once] final case class Committed(content: String, at: Instant, total: RowTotal) {

  /** The file's text. The last line shows that it is complete. */
  def text: String =
    Seq[Any](Attempt.Version, content, at.toEpochMilli, total.rows, total.sum, Attempt.End)
      .mkString("\n")
}

private[once] object Committed {

  /** `None` if the file is incomplete. */
  def parse(text: String): Option[Committed] = text.split('\n') match {
    case Array(Attempt.Version, content, at, rows, sum, Attempt.End) =>
      Try {
        Committed(content, Instant.ofEpochMilli(at.toLong), RowTotal(rows.toLong, sum.toLong))
      }.toOption
    case _ => None
  }
}
