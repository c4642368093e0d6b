package sparkkinesis.spark.read.realtime

import java.util.concurrent.CountDownLatch

import scala.collection.mutable
import scala.concurrent.duration._
import scala.concurrent.{Await, ExecutionContext, Future}

import org.apache.spark.sql.connector.read.streaming.{Offset, PartitionOffset}

import sparkkinesis.source.options.SourceOptions
import sparkkinesis.spark.read.KinesisMicroBatchStream
import sparkkinesis.spark.read.realtime.LiveQuery.Row
import sparkkinesis.spark.read.task.RecordRow

/**
 * A run of a query in real-time mode as Spark calls the source, without Spark's engine: the Spark
 * of these tests has no such mode. Tasks run in threads, all at the same time.
 *
 * @param from the checkpoint's offset, if there is one
 */
final class LiveQuery(options: Map[String, String], checkpoint: String, from: Option[String])
    extends AutoCloseable {
  private val stream = new LiveQuery.Source(SourceOptions.parse(options, None), checkpoint)
  private var start: Offset = from.fold(stream.initialOffset())(stream.deserializeOffset)
  private val read = mutable.Buffer.empty[Row]

  def rows: Vector[Row] = read.synchronized(read.toVector)

  /** The offset that Spark logs. */
  def checkpointed: String = start.json

  def metric(name: String): Long =
    stream.metrics(java.util.Optional.of(start)).get(name).toLong

  /** One batch, which Spark ends by its clock when `meanwhile` has returned. */
  def batch(meanwhile: => Unit): Unit = {
    val over = new CountDownLatch(1)
    val ends = tasks { task =>
      while (over.getCount > 0) if (task.next(20)) found(task)
    } {
      try meanwhile
      finally over.countDown()
    }
    start = stream.mergeOffsets(ends.toArray)
  }

  /** One batch, in which Spark asks each task for so many rows at most. */
  def batchOf(mostRows: Int): Unit = {
    val ends = tasks { task =>
      (1 to mostRows).foreach(_ => if (task.next(500)) found(task))
    }(())
    start = stream.mergeOffsets(ends.toArray)
  }

  /** One batch that the driver ends, because Spark's clock does not. */
  def batchUntilEnded(meanwhile: => Unit): Unit = {
    val ends = tasks(task => while (task.next(Int.MaxValue)) found(task))(meanwhile)
    start = stream.mergeOffsets(ends.toArray)
  }

  /** A batch of which the tasks end, but the driver dies before it logs the offset. */
  def batchThatFails(meanwhile: => Unit): Unit = {
    val before = start
    batch(meanwhile)
    start = before
  }

  private def tasks(read: RealTimeTask => Unit)(meanwhile: => Unit): Seq[PartitionOffset] = {
    stream.planInputPartitions(start)
    val partitions = stream.planInputPartitions(start) // Spark asks twice
    val run = stream.createReaderFactory().asInstanceOf[StreamReaderFactory].run
    implicit val threads: ExecutionContext = LiveQuery.Threads
    val running = partitions.toSeq.collect { case partition: RealTimePartition =>
      Future {
        val task = RealTimeTask.begin(run, partition, None)
        try {
          read(task)
          RealTimeEnd(task.end)
        } finally task.close()
      }
    }
    meanwhile
    running.map(Await.result(_, 2.minutes))
  }

  private def found(task: RealTimeTask): Unit = {
    val row = task.get()
    val values = Row(
      row.getUTF8String(LiveQuery.Key).toString,
      new String(row.getBinary(LiveQuery.Data)).toInt,
      row.getUTF8String(LiveQuery.Shard).toString
    )
    read.synchronized(read += values): Unit
  }

  override def close(): Unit = stream.stop()
}

object LiveQuery {
  final case class Row(key: String, number: Int, shard: String)

  private val Key = RecordRow.Schema.fieldIndex("partitionKey")
  private val Data = RecordRow.Schema.fieldIndex("data")
  private val Shard = RecordRow.Schema.fieldIndex("shardId")

  private val Threads = ExecutionContext.fromExecutor { (task: Runnable) =>
    val thread = new Thread(task, "task of a test")
    thread.setDaemon(true)
    thread.start()
  }

  private final class Source(options: SourceOptions, checkpoint: String)
      extends KinesisMicroBatchStream(options, checkpoint) {
    prepareRealTime()
  }
}
