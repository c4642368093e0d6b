package sparkkinesis.spark.once

import java.time.Instant

import scala.util.Try

/**
 * An attempt to write a batch.
 *
 * @param number of the attempt among all of the checkpoint
 * @param batch of the query
 * @param content hash of what makes the batch: its offsets, its stream, the checkpoint's folder
 * @param incarnation the same in all attempts of a batch with this content
 * @param run number of the attempt among those, from 0
 * @param since before the first of them wrote anything, by the service's clock
 * @param owner differs in every attempt, even if two drivers write one file
 */
private[once] final case class Attempt(
    number: Long,
    batch: Long,
    content: String,
    incarnation: String,
    run: Long,
    since: Instant,
    owner: String
) {

  /** The file's text. The last line shows that it is complete. */
  def text: String =
    Seq[Any](
      Attempt.Version,
      batch,
      content,
      incarnation,
      run,
      since.toEpochMilli,
      owner,
      Attempt.End
    )
      .mkString("\n")
}

private[once] object Attempt {
  private val Version = "spark-kinesis-sink 1"
  private val End = "end"

  /** `None` if the file is incomplete: its attempt wrote nothing. */
  def parse(number: Long, text: String): Option[Attempt] = text.split('\n') match {
    case Array(Version, batch, content, incarnation, run, since, owner, End) =>
      Try {
        val first = Instant.ofEpochMilli(since.toLong)
        Attempt(number, batch.toLong, content, incarnation, run.toLong, first, owner)
      }.toOption
    case _ => None
  }
}
