package sparkkinesis.source.checkpoint

import scala.collection.immutable.SortedSet

import sparkkinesis.shard.SourceException
import sparkkinesis.source.options.BatchNumbers

/**
 * The batches of a checkpoint that can be read again: Spark has logged their end, and also the end
 * of the batch before, which is where they begin.
 *
 * @param location of the checkpoint, for messages
 * @param logged batches whose end is in Spark's offset log
 */
private[sparkkinesis] final case class LoggedBatches(location: String, logged: SortedSet[Long]) {
  private val whole = logged.filter(batch => batch == 0 || logged(batch - 1))

  /** @throws SourceException if one of the batches cannot be read again */
  def check(wanted: SortedSet[Long]): Unit = {
    val missing = wanted.diff(whole)
    if (missing.nonEmpty)
      throw new SourceException(
        "KINESIS_BATCH_NOT_LOGGED",
        s"Checkpoint $location does not say which records batch ${BatchNumbers.text(missing)} " +
          s"read: ${reason(missing)}. Batches that can be replayed: ${BatchNumbers.text(whole)}. " +
          "Set 'replayBatches' to some of them. To read older records, use a batch read with " +
          "'startingPosition' and 'endingPosition'."
      )
  }

  private def reason(missing: SortedSet[Long]): String =
    if (logged.isEmpty) "its offset log is empty"
    else if (missing.head > logged.last)
      s"the last batch in its offset log is ${logged.last} (Spark logs a batch before it reads " +
        "any records, and a batch of real-time mode when it ends)"
    else
      "its offset log lacks the end of that batch, or of the batch before, which is where it " +
        "begins. Spark keeps the last 100 batches, or as many as " +
        "'spark.sql.streaming.minBatchesToRetain' says, and asynchronous progress tracking " +
        "leaves out batches"
}

private[sparkkinesis] object LoggedBatches {

  /**
   * Chooses the source to replay.
   *
   * @param wanted the user's choice; otherwise the only source of this connector
   * @throws SourceException if there is no such source, or more than one
   */
  def source(location: String, batches: Seq[LoggedOffsets], wanted: Option[String]): String = {
    val own = batches.flatMap(_.own).distinct
    (wanted, own) match {
      case (Some(name), _) if own.contains(name) => name
      case (None, Seq(only)) => only
      case _ =>
        val all = batches.flatMap(_.sources.map(_._1)).distinct
        throw new SourceException(
          "KINESIS_REPLAY_SOURCE",
          s"Checkpoint $location has the sources ${quoted(all)}. Sources of this connector: " +
            s"${quoted(own)}. " + wanted.fold(choose(own))(name =>
              s"Option 'replaySource' is '$name'. Set it to a source of this connector."
            )
        )
    }
  }

  private def choose(own: Seq[String]): String =
    if (own.isEmpty)
      "Only batches of this connector can be replayed. Set 'replayCheckpoint' to the checkpoint " +
        "of a query that reads from Kinesis."
    else "Set 'replaySource' to the source whose batches to replay."

  private def quoted(names: Seq[String]): String =
    if (names.isEmpty) "none" else names.mkString("'", "', '", "'")
}
