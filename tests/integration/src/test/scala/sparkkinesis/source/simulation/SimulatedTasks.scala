package sparkkinesis.source.simulation

import java.nio.charset.StandardCharsets.UTF_8

import sparkkinesis.model.{PackedRecords, Record, StreamShard}
import sparkkinesis.shard.ShardRange
import sparkkinesis.shard.feed.ShardRangeReader
import sparkkinesis.source.query.MicroBatchQuery
import sparkkinesis.source.replay.TaskPages
import sparkkinesis.source.store.PageStore
import sparkkinesis.spark.read.task.RecordRow

/** The tasks of a batch. */
final class SimulatedTasks(
    world: World,
    run: SimulatedDriver[MicroBatchQuery],
    executors: SimulatedCluster
) {
  import world._

  /** Reads pages of the preferred executor or of another one, or reads from Kinesis again. */
  def read(range: ShardRange): Seq[Row] = {
    val store = executors.any(range.shard).store
    val isStored = store.parts(range).nonEmpty
    val records = recordsOf(range, Some(store))
    if (run.settings.reads.failOnDataLoss)
      require(
        range.first.forall(first => records.headOption.exists(_.sequenceNumber == first)),
        s"$range begins at ${records.headOption}"
      )
    if (isStored && random.nextInt(3) == 0)
      require(
        recordsOf(range, None).map(_.sequenceNumber) == records.map(_.sequenceNumber),
        s"pages of $range differ"
      )
    rowsOf(range.shard, records)
  }

  private def recordsOf(range: ShardRange, store: Option[PageStore]): Vector[Record] = {
    val pages = new TaskPages(
      Seq(range),
      store,
      stream =>
        new ShardRangeReader(
          run.clients(stream),
          run.settings.reads,
          clock,
          () => false
        )
    )
    Iterator.continually(pages.next()).takeWhile(_.nonEmpty).flatten.flatMap(_.records).toVector
  }

  private def rowsOf(shard: StreamShard, records: Vector[Record]): Vector[Row] = {
    val row = new RecordRow(deaggregate = true)
    row.read(shard, PackedRecords(records))
    Iterator
      .continually(row)
      .takeWhile(_.next())
      .map(row => Row(shard, new String(row.getBinary(DataColumn), UTF_8).trim))
      .toVector
  }

  private val DataColumn = RecordRow.Schema.fieldIndex("data")
}
