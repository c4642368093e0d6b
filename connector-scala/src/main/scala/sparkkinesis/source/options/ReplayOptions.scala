package sparkkinesis.source.options

import scala.collection.immutable.SortedSet

import sparkkinesis.client.options.{OptionException, OptionSpec, Options}
import sparkkinesis.source.options.SourceTable.{ReplayBatches, ReplayCheckpoint, ReplaySource}

/**
 * The micro-batches of a streaming query that a batch read returns again.
 *
 * @param checkpoint checkpoint location of the query
 * @param batches at least one
 * @param source number or name of the source in the query; `None` if the query has one Kinesis
 *   source
 */
private[sparkkinesis] final case class ReplayOptions(
    checkpoint: String,
    batches: SortedSet[Long],
    source: Option[String]
) {
  override def toString: String = s"batches ${BatchNumbers.text(batches)} of $checkpoint"
}

private[sparkkinesis] object ReplayOptions {

  /** Whether one of the option names means a replay. */
  def areIn(names: Iterable[String]): Boolean =
    names.exists(OptionSpec.find(_, Seq(ReplayCheckpoint)).nonEmpty)

  /** `None` if the options name no checkpoint. */
  def parse(options: Options): Option[ReplayOptions] =
    options.get(ReplayCheckpoint).map { checkpoint =>
      val batches = options.get(ReplayBatches).getOrElse {
        throw OptionException.missing(
          "Option 'replayCheckpoint' is set, and option 'replayBatches' is missing. Set it to " +
            "the numbers of the micro-batches to read again, such as 120-124."
        )
      }
      ReplayOptions(checkpoint, batches, options.get(ReplaySource))
    }
}
