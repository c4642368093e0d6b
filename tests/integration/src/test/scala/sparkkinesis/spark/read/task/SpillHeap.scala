package sparkkinesis.spark.read.task

import java.lang.management.ManagementFactory

import scala.concurrent.duration._
import scala.concurrent.{Await, ExecutionContext, Future}

import org.apache.spark.{SparkConf, SparkContext}

import sparkkinesis.client.SystemClock
import sparkkinesis.model.StreamRef
import sparkkinesis.shard.{ReadSettings, ShardRange, StreamClient}
import sparkkinesis.source.ReadAheadFixture
import sparkkinesis.source.plan.BatchPlanner
import sparkkinesis.source.protocol.ReadLimits
import sparkkinesis.source.store.PageStore

/**
 * An executor that reads a whole backlog ahead while its query waits, as a program for
 * [[SpillHeapSuite]]. Two tasks then read the backlog as one batch.
 *
 * Arguments: the number of shards, the pages of each, and a folder. Prints the bytes in memory and
 * on disk with the whole backlog, the live heap, and the number of records that the tasks did and
 * did not find.
 */
object SpillHeap {
  def main(args: Array[String]): Unit = {
    val conf =
      new SparkConf().setMaster("local[1]").setAppName("heap").set("spark.ui.enabled", "false")
    val spark = new SparkContext(conf.set("spark.local.dir", args(2)))
    try println(measure(new SyntheticShards(args(0).toInt, args(1).toInt)))
    finally spark.stop()
  }

  private val settings =
    ReadAheadFixture.Settings.copy(
      ReadSettings(10, 1.milli, 1.second),
      bufferBytes = None,
      spillBytes = 1L << 40
    )

  private def measure(client: SyntheticShards): String = {
    val stream = StreamClient(StreamRef.ByArn(client.arn), client)
    val query = new ReadAheadFixture(
      stream,
      ReadAheadFixture.oldest(stream),
      settings,
      new DiskSpill(SystemClock)
    )
    awaitTips(query)
    val (inMemory, onDisk, live) = (query.store.bytes, query.store.spilledBytes, liveHeap)
    val end = BatchPlanner.end(query.begin, query.driver.frontiers, ReadLimits.None)
    val (found, missing) = read(query.store, BatchPlanner.ranges(query.begin, end))
    query.close()
    s"$inMemory $onDisk $live $found $missing"
  }

  private def awaitTips(query: ReadAheadFixture): Unit = {
    import query.driver
    while (
      driver.frontiers.size < query.begin.readable.size ||
      driver.frontiers.values.exists(_.millisBehindLatest > 0)
    ) {
      driver.executors.failure.foreach(failure => sys.error(failure.message))
      driver.synchronized(driver.wait(100))
    }
  }

  /** @return number of records that came in order, and number of parts that did not */
  private def read(store: PageStore, ranges: Seq[ShardRange]): (Long, Long) = {
    implicit val tasks: ExecutionContext = ExecutionContext.global
    val halves = ranges.grouped(math.max(1, ranges.size / 2)).toSeq
    val counts = halves.map(half => Future(half.map(readOne(store, _))))
    val all = counts.flatMap(Await.result(_, 5.minutes))
    (all.map(_._1).sum, all.map(_._2).sum)
  }

  private def readOne(store: PageStore, range: ShardRange): (Long, Long) = {
    var (count, missing) = (0L, 0L)
    store.parts(range).getOrElse(sys.error(s"$range is not there")).foreach { part =>
      part.records match {
        case None => missing += 1
        case Some(records) =>
          records.indices.foreach { index =>
            count += 1
            require(records.sequenceNumber(index).text == count.toString, s"$range at $count")
          }
      }
    }
    (count, missing)
  }

  private def liveHeap: Long = {
    (1 to 3).foreach(_ => System.gc())
    ManagementFactory.getMemoryMXBean.getHeapMemoryUsage.getUsed
  }
}
