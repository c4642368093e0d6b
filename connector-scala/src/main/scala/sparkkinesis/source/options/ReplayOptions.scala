package sparkkinesis.source.options

import scala.collection.immutable.SortedSet

import sparkkinesis.client.options.{OptionException, Options}

/**
 * The micro-batches of a streaming query that a batch read returns again.
 *
 * @param checkpoint checkpoint location of the query
 * @param batches at least one
 * @param source number or name of the source in the query; `None` if the query has one Kinesis
 *   source
 */
final case class ReplayOptions(
    checkpoint: String,
    batches: SortedSet[Long],
    source: Option[String]
) {
  override def toString: String = s"batches ${BatchNumbers.text(batches)} of $checkpoint"
}

object ReplayOptions {
  private val Checkpoint = "replayCheckpoint"
  private val Batches = "replayBatches"
  private val Source = "replaySource"
  val Names: Seq[String] = Seq(Checkpoint, Batches, Source)

  /** Whether one of the option names means a replay. */
  def areIn(names: Iterable[String]): Boolean =
    names.exists(Options.meaning(_, Seq(Checkpoint)).nonEmpty)

  /** `None` if the options name no checkpoint. */
  def parse(options: Options): Option[ReplayOptions] = options.text(Checkpoint) match {
    case Some(checkpoint) =>
      Some(ReplayOptions(checkpoint, batches(options), options.text(Source)))
    case None =>
      Seq(Batches, Source).filter(options.contains).foreach { name =>
        throw OptionException.missing(
          s"Option ${options.named(name)} has no effect without '$Checkpoint'. Set both options, " +
            "or remove this one."
        )
      }
      None
  }

  private def batches(options: Options): SortedSet[Long] = {
    val text = options
      .text(Batches)
      .getOrElse(
        throw OptionException.missing(
          s"Option '$Checkpoint' is set, and option '$Batches' is missing. Set it to the numbers " +
            "of the micro-batches to read again, such as 120-124."
        )
      )
    BatchNumbers.parse(text).getOrElse {
      throw options.invalid(
        Batches,
        s"numbers of micro-batches such as 120-124 or 120,122, at most ${BatchNumbers.Most}",
        "A range begins with its smaller number."
      )
    }
  }
}
