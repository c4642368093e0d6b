package sparkkinesis.spark.read

import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch}

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.streaming.{DataStreamWriter, StreamingQuery, Trigger}
import org.apache.spark.sql.{DataFrame, Row}

/** Queries with an interval trigger, whose executors have little room to read ahead. */
class SparkIntervalSuite extends AnyFunSuite with BacklogFixture {
  private val count = 600

  private def withBacklog(options: (String, String)*)(
      start: DataStreamWriter[Row] => StreamingQuery
  )(check: StreamingQuery => Unit): Unit = {
    val small = Seq("maxRecordsPerFetch" -> "10", "minFetchPeriod" -> "1ms")
    val query = start(
      readAll(newBacklog(count), small ++ options: _*).writeStream
        .option("checkpointLocation", newCheckpoint())
    )
    try check(query)
    finally query.stop()
  }

  test("the pages of a batch go when it is done, not when the next trigger fires") {
    val isFull = new CountDownLatch(1)
    withBacklog("fetchBufferSize" -> "200k", "fetchSpillSize" -> "0")(
      _.trigger(Trigger.ProcessingTime("1 hour"))
        .foreachBatch { (frame: DataFrame, _: Long) =>
          numbers(frame)
          isFull.await()
        }
        .start()
    ) { _ =>
      val full = awaitNoCalls()
      isFull.countDown()
      eventually(assert(calls > full))
    }
  }

  test("a batch takes what memory and disk hold together, each row once and in order") {
    val isFull = new CountDownLatch(1)
    val batches = new ConcurrentLinkedQueue[Seq[Int]]
    val before = calls
    withBacklog("fetchBufferSize" -> "200k")(
      _.foreachBatch { (frame: DataFrame, _: Long) =>
        batches.add(numbers(frame))
        isFull.await()
      }.start()
    ) { query =>
      eventually(assert(!batches.isEmpty))
      // The memory part holds less than 20 of these pages.
      eventually(assert(calls > before + count / 10))
      isFull.countDown()
      eventually(assert(batches.asScala.map(_.size).sum >= count || !query.isActive))
      query.exception.foreach(throw _)
      assert(batches.asScala.toSeq.flatten === (1 to count))
      assert(batches.asScala.exists(_.size > 200), "more than the memory holds")
      val metrics = query.lastProgress.sources.head.metrics
      assert(metrics.get("rereadRanges") === "0")
    }
  }
}
