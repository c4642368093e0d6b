package sparkkinesis.source.simulation

import java.nio.charset.StandardCharsets.UTF_8

import sparkkinesis.model.StreamArn
import sparkkinesis.shard.feed.ShardRangeReader
import sparkkinesis.source.query.MicroBatchQuery
import sparkkinesis.source.replay._
import sparkkinesis.spark.read.task.RecordRow

/** The tasks of a replay, in any order. */
final class SimulatedReplay(world: World, run: SimulatedDriver[MicroBatchQuery]) {
  import world._

  /** The rows of each batch, in order per shard. */
  def read(batches: Seq[LoggedBatch]): Map[Long, Seq[Row]] = {
    unleash()
    try {
      val pages = new TaskPages(random.shuffle(ReplayPlan.of(batches)), None, newReader)
      Iterator
        .continually(pages.next())
        .takeWhile(_.nonEmpty)
        .flatten
        .flatMap(rowsOf)
        .toVector
        .groupBy { case (batch, _) => batch }
        .map { case (batch, rows) => batch -> rows.map(_._2) }
    } finally soothe()
  }

  private def newReader(stream: StreamArn) =
    new ShardRangeReader(
      run.clients(stream),
      run.settings.reads,
      clock,
      () => false
    )

  private def rowsOf(page: TaskPage): Vector[(Long, Row)] = {
    val row = new RecordRow(deaggregate = true, isReplay = true)
    row.read(page.shard, page.records, page.batch)
    Iterator
      .continually(row)
      .takeWhile(_.next())
      .map { row =>
        row.getLong(Batch) -> Row(page.shard, new String(row.getBinary(Data), UTF_8).trim)
      }
      .toVector
  }

  private val Data = RecordRow.ReplaySchema.fieldIndex("data")
  private val Batch = RecordRow.ReplaySchema.fieldIndex("batchId")
}
