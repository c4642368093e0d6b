package sparkkinesis.source.simulation

import java.nio.charset.StandardCharsets.UTF_8

import sparkkinesis.model.{PackedRecords, StreamShard}
import sparkkinesis.source.replay._
import sparkkinesis.spark.read.task.{RecordRow, ReplayRow}

/** The tasks of a replay, in any order. */
final class SimulatedReplay(world: World, run: MicroBatchDriver) {
  import world._

  /** The rows of each batch, in order per shard. */
  def read(batches: Seq[LoggedBatch]): Map[Long, Seq[Row]] = {
    val ranges = ReplayPlan.of(batches)
    val record = new RecordRow(deaggregate = true)
    def rowOf(range: ReplayRange) = new ReplayRow(record, new BatchParts(range))
    unleash()
    try
      random
        .shuffle(ranges)
        .flatMap(it => newReader(it).pages(it.range).flatMap(rowsOf(rowOf(it), it.range.shard, _)))
        .groupBy { case (batch, _) => batch }
        .map { case (batch, rows) => batch -> rows.map(_._2) }
    finally soothe()
  }

  private def newReader(it: ReplayRange) = new ShardRangeReader(
    run.clients(it.range.shard.stream),
    run.settings,
    clock,
    () => random.nextDouble(),
    () => false
  )

  private def rowsOf(
      row: ReplayRow,
      shard: StreamShard,
      page: PackedRecords
  ): Vector[(Long, Row)] = {
    row.read(shard, page)
    Iterator
      .continually(row)
      .takeWhile(_.next())
      .map(row => row.getLong(Batch) -> Row(shard, new String(row.getBinary(Data), UTF_8).trim))
      .toVector
  }

  private val Data = ReplayRow.Schema.fieldIndex("data")
  private val Batch = ReplayRow.Schema.fieldIndex("batchId")
}
