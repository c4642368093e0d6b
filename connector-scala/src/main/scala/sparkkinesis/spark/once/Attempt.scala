package sparkkinesis.spark.once

import java.nio.charset.StandardCharsets.UTF_8
import java.time.Instant
import java.util.UUID

import scala.util.Try

import sparkkinesis.sink.once.RowTotal

/**
 * An attempt to write a batch.
 *
 * @param number of the attempt among all of the checkpoint
 * @param batch of the query
 * @param content hash of what makes the batch: its offsets and its stream
 * @param folder of the log of attempts
 * @param incarnation the same in all attempts of a batch with this content in this folder
 * @param run number of the attempt among those, from 0
 * @param since before the first of them wrote anything, by the service's clock
 * @param owner differs in every attempt, also if two drivers begin one at the same time
 */
private[once] final case class Attempt(
    number: Long,
    batch: Long,
    content: String,
    folder: String,
    incarnation: String,
    run: Long,
    since: Instant,
    owner: String
) {
  def fileName: String = f"$number%012d-$owner"

  def isSameContent(that: Attempt): Boolean = batch == that.batch && content == that.content

  /** The file's text. */
  def text: String =
    Attempt.lines(batch, content, folder, incarnation, run, since.toEpochMilli, owner)
}

private[once] object Attempt {
  private val Version = "spark-kinesis-sink 1"
  private val End = "end"
  private val FileName = "([0-9]{12})-.+".r

  /**
   * The first attempt of a batch. Two drivers that begin it at the same time have the same
   * incarnation, so a later attempt finds the rows of whichever of them wrote.
   *
   * @param after number of the newest attempt whose file is complete; 0 if there is none
   */
  def first(
      number: Long,
      after: Long,
      batch: Long,
      content: String,
      folder: String,
      now: Instant,
      owner: String
  ): Attempt = {
    val origin = s"$content $folder ${after + 1}"
    val incarnation = UUID.nameUUIDFromBytes(origin.getBytes(UTF_8)).toString
    Attempt(number, batch, content, folder, incarnation, 0, now, owner)
  }

  /** `None` if the file is not one of the log. */
  def numberOf(fileName: String): Option[Long] = fileName match {
    case FileName(digits) => Some(digits.toLong)
    case _ => None
  }

  /** `None` if the file is incomplete: its attempt has written nothing yet. */
  def parse(number: Long, text: String): Option[Attempt] = parsed(text) {
    case Seq(batch, content, folder, incarnation, run, since, owner) =>
      val first = Instant.ofEpochMilli(since.toLong)
      Attempt(number, batch.toLong, content, folder, incarnation, run.toLong, first, owner)
  }

  /** The text of a file of the log. The last line shows that it is complete. */
  def lines(values: Any*): String = (Version +: values :+ End).mkString("\n")

  /** `None` if the text is incomplete. */
  def parsed[A](text: String)(value: PartialFunction[Seq[String], A]): Option[A] =
    text.split('\n').toSeq match {
      case Version +: values :+ End => Try(value.lift(values)).toOption.flatten
      case _ => None
    }
}

/**
 * A batch write whose rows are all in the stream.
 *
 * @param content as in its attempts
 * @param at when it was complete, by the driver's clock
 * @param total of its rows, without bad rows
 */
private[once] final case class CompletedWrite(content: String, at: Instant, total: RowTotal) {

  /** The file's text. */
  def text: String = Attempt.lines(content, at.toEpochMilli, total.rows, total.sum)
}

private[once] object CompletedWrite {

  /** `None` if the file is incomplete. */
  def parse(text: String): Option[CompletedWrite] = Attempt.parsed(text) {
    case Seq(content, at, rows, sum) =>
      CompletedWrite(content, Instant.ofEpochMilli(at.toLong), RowTotal(rows.toLong, sum.toLong))
  }
}
