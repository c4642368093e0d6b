package sparkkinesis.source.simulation.realtime

import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.mutable

import sparkkinesis.source.realtime.TaskEnd
import sparkkinesis.source.simulation.{Row, World}
import sparkkinesis.spark.read.realtime.{RealTimeAttempt, RealTimePartition, RealTimeTask}
import sparkkinesis.spark.read.task.RecordRow

/** Runs a task of a real-time batch as Spark does: row by row, until the batch ends. */
final class LiveAttempt(
    val executor: LiveExecutor,
    partition: RealTimePartition,
    id: Long,
    isRetry: Boolean,
    world: World
) {
  import LiveAttempt._
  private var service = executor.service()
  private val task = RealTimeTask.begin(
    () => {
      service = executor.service()
      service
    },
    partition,
    RealTimeAttempt(id, isRetry, () => false),
    deaggregate = true,
    world.clock,
    delays = None
  )
  private val found = mutable.ArrayBuffer.empty[Row]

  def rows: Seq[Row] = found.toSeq

  /**
   * Hands out at most so many rows.
   *
   * @throws IllegalStateException if the task fails
   */
  def read(most: Int): Seq[Row] = {
    val before = found.size
    while (found.size < before + most && task.next(0)) found += current
    found.drop(before).toSeq
  }

  /** Whether the driver has ended the batch. Spark asks for a row until there is none. */
  def isOver: Boolean = service.shards.isEnded(partition.batch)

  def finish(): TaskEnd = {
    val end = task.end
    task.close()
    end
  }

  def fail(): Unit = task.close()

  private def current: Row = {
    val row = task.get()
    val (shard, stream) = (row.getUTF8String(Shard).toString, row.getUTF8String(Stream).toString)
    val known = partition.starts.map(_.shard)
    Row(
      known.find(it => it.shard.name == shard && it.stream.name.name == stream).get,
      new String(row.getBinary(Data), UTF_8).trim
    )
  }
}

private object LiveAttempt {
  private val Data = RecordRow.Schema.fieldIndex("data")
  private val Shard = RecordRow.Schema.fieldIndex("shardId")
  private val Stream = RecordRow.Schema.fieldIndex("stream")
}
