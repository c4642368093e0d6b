package sparkkinesis.source.watch

import sparkkinesis.model.StreamRef
import sparkkinesis.source.SourceException

/** What an audit found, in words. */
private[source] object AuditReport {

  /** Parents that are gone unread are a loss; a shard that is there and unknown need not be one. */
  def failure(stream: StreamRef, findings: AuditFindings): SourceException = {
    val isLoss = findings.forsaken.nonEmpty || findings.missing.exists(_.parents.nonEmpty)
    new SourceException(
      if (isLoss) "KINESIS_DATA_LOSS" else "KINESIS_SHARD_MISSING",
      s"${text(stream, findings)} To read them from their beginning and go on with what is left, " +
        "set 'failOnDataLoss' to 'false'; or start with a new checkpoint location."
    )
  }

  def text(stream: StreamRef, findings: AuditFindings): String = {
    val missing = findings.missing.take(Shown).map { shard =>
      val after = if (shard.parents.isEmpty) "" else s", after ${shard.parents.mkString(" and ")}"
      s"${shard.id} (hash keys ${shard.hashKeys}$after)"
    }
    val forsaken = findings.forsaken.take(Shown).map { case (id, gone) =>
      s"$id, which waits for ${gone.toSeq.sorted.mkString(" and ")}"
    }
    val parts = Seq(
      Option.when(missing.nonEmpty) {
        "these shards are listed, and neither they nor any they came from are in the checkpoint: " +
          s"${missing.mkString("; ")}${more(findings.missing.size)}"
      },
      Option.when(forsaken.nonEmpty) {
        s"these wait for shards that have expired unread: ${forsaken.mkString("; ")}" +
          more(findings.forsaken.size)
      }
    )
    s"No batch would ever read all of stream $stream: ${parts.flatten.mkString("; and ")}. What " +
      "came before them was probably trimmed after the stream's retention period."
  }

  private def more(count: Int): String = if (count > Shown) s"; and ${count - Shown} more" else ""

  private val Shown = 5
}
