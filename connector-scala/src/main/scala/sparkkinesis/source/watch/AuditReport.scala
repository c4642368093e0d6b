package sparkkinesis.source.watch

import sparkkinesis.model.StreamRef
import sparkkinesis.source.SourceException

/** Messages about the findings of an audit. */
private[source] object AuditReport {

  /**
   * A data loss if parents expired before they were read; otherwise shards that are merely missing.
   */
  def failure(stream: StreamRef, findings: AuditFindings): SourceException = {
    val isLoss = findings.blocked.nonEmpty || findings.missing.exists(_.parents.nonEmpty)
    new SourceException(
      if (isLoss) "KINESIS_DATA_LOSS" else "KINESIS_SHARD_MISSING",
      s"${text(stream, findings)} To read these shards from their trim horizon and continue, set " +
        "'failOnDataLoss' to 'false'. To start over, use a new checkpoint location."
    )
  }

  def text(stream: StreamRef, findings: AuditFindings): String = {
    val missing = findings.missing.map { shard =>
      val parents =
        if (shard.parents.isEmpty) "" else s", parents ${shard.parents.mkString(" and ")}"
      s"${shard.id} (hash keys ${shard.hashKeys}$parents)"
    }
    val blocked = findings.blocked.map(shard => s"${shard.id} waits for ${shard.parent}")
    s"The query would never read all of stream $stream." +
      sentence("The checkpoint contains neither these shards nor any of their ancestors", missing) +
      sentence("These shards wait for parents that expired before they were read", blocked) +
      " The parents were probably trimmed after the stream's retention period."
  }

  private def sentence(start: String, items: Seq[String]): String = {
    val more = if (items.size > Shown) s"; and ${items.size - Shown} more" else ""
    if (items.isEmpty) "" else s" $start: ${items.take(Shown).mkString("; ")}$more."
  }

  private val Shown = 5
}
