package sparkkinesis.source.simulation

import java.nio.charset.StandardCharsets.UTF_8

import sparkkinesis.model.{PackedRecords, Record, StreamShard}
import sparkkinesis.source.protocol.ShardRange
import sparkkinesis.source.replay.ShardRangeReader
import sparkkinesis.spark.read.task.RecordRow

/** The tasks of a batch. */
final class SimulatedTasks(world: World, run: MicroBatchDriver, executors: SimulatedCluster) {
  import world._

  /** Reads pages of the preferred executor or of another one, or reads from Kinesis again. */
  def read(range: ShardRange): Seq[Row] = {
    val stored = executors.any(range.shard).store.parts(range)
    val records = stored.fold(reread(range)) { parts =>
      parts.flatMap(part => part.records.map(_.toVector).getOrElse(reread(part.range)))
    }
    if (run.settings.failOnDataLoss)
      require(
        range.first.forall(first => records.headOption.exists(_.sequenceNumber == first)),
        s"$range begins at ${records.headOption}"
      )
    if (stored.nonEmpty && random.nextInt(3) == 0)
      require(
        reread(range).map(_.sequenceNumber) == records.map(_.sequenceNumber),
        s"pages of $range differ"
      )
    rowsOf(range.shard, records)
  }

  private def reread(range: ShardRange): Vector[Record] =
    new ShardRangeReader(
      run.clients(range.shard.stream),
      run.settings,
      clock,
      () => random.nextDouble(),
      () => false
    ).pages(range).flatten.toVector

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
