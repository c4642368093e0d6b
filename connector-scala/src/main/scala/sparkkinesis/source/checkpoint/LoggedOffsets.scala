package sparkkinesis.source.checkpoint

import sparkkinesis.compat._
import sparkkinesis.model.Printable
import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.shard.SourceException

/**
 * A file of Spark's offset log: where a micro-batch ends in each source of a query.
 *
 * @param file name for messages
 * @param sources number or name of each source, and its offset; `None` if the source has none yet
 */
private[sparkkinesis] final case class LoggedOffsets(
    file: String,
    sources: Seq[(String, Option[String])]
) {

  /** The offset of a source. `None` if the source has none yet. */
  def of(source: String): Option[SourceOffset] =
    sources.collectFirst { case (`source`, Some(json)) => OffsetCodec.decode(json) }

  /** The sources whose offsets are those of this connector. */
  def own: Seq[String] = sources.collect { case (source, Some(json)) if isOwn(json) => source }

  private def isOwn(json: String): Boolean =
    try OffsetCodec.decode(json).streams.nonEmpty
    catch { case e: SourceException => e.condition != OffsetCodec.Unreadable }
}

private[sparkkinesis] object LoggedOffsets {
  private val NoOffset = "-"

  /** @param reason a part of a sentence: what is wrong with the checkpoint */
  def unreadable(location: String, reason: String): SourceException = new SourceException(
    "KINESIS_CHECKPOINT_UNREADABLE",
    s"Checkpoint $location cannot be read: $reason. Set 'replayCheckpoint' to the " +
      "'checkpointLocation' of a streaming query of Spark."
  )

  /**
   * The first line is the version and the second one holds settings of the query. Since version 2,
   * which Spark 4.2 can write, a source has a name, which may be a number.
   *
   * @param location of the checkpoint
   * @throws SourceException if the file is incomplete or has a later version
   */
  def parse(location: String, file: String, text: String): LoggedOffsets = {
    def refuse(reason: String) =
      throw unreadable(location, s"its file $file $reason")
    text.linesIterator.toVector match {
      case "v1" +: _ +: lines =>
        LoggedOffsets(
          file,
          lines.zipWithIndex.map { case (line, index) =>
            index.toString -> offset(line)
          }
        )
      case "v2" +: _ +: lines =>
        LoggedOffsets(
          file,
          lines.map { line =>
            line.split(":", 2) match {
              case Array(source, json) => source -> offset(json)
              case _ =>
                refuse(s"has a line without the name of a source: '${Printable(line, 100)}'")
            }
          }
        )
      case version +: _ if version.matches("v\\d+") && version != "v1" && version != "v2" =>
        refuse(
          s"has version '$version', and this release of spark-kinesis reads versions 1 and 2. " +
            "Use a later release"
        )
      case _ => refuse("is incomplete")
    }
  }

  private def offset(text: String): Option[String] = Option.when(text != NoOffset)(text)
}
