package sparkkinesis.spark.read

import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch}

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.DataFrame

/**
 * A query whose sink hangs for longer than the lifetime of iterators, over HTTP. The test moves the
 * clock.
 */
class SparkPauseSuite extends AnyFunSuite with BacklogFixture {
  private val count = 400

  test(
    "a query that pauses continues with new iterators, without loss or repetition, and counts them"
  ) {
    val small = Seq("maxRecordsPerFetch" -> "10", "fetchBufferSize" -> "200k")
    val rows = new ConcurrentLinkedQueue[Int]
    val resume = new CountDownLatch(1)
    val query = readAll(newBacklog(count), small :+ ("fetchSpillSize" -> "0"): _*).writeStream
      .option("checkpointLocation", newCheckpoint())
      .foreachBatch { (frame: DataFrame, _: Long) =>
        numbers(frame).foreach(rows.add(_))
        resume.await()
      }
      .start()
    try {
      eventually(assert(!rows.isEmpty))
      awaitNoCalls()
      server.kinesis.advance(6.minutes)
      resume.countDown()
      eventually(assert(rows.size >= count || !query.isActive))
      query.exception.foreach(throw _)
      assert(rows.asScala.toSeq === (1 to count))
      eventually {
        assert(query.lastProgress.sources.head.metrics.get("expiredIterators").toLong >= 1)
      }
      val refused = server.kinesis.statistics.snapshot.refused("GetRecords")
      assert(refused("ExpiredIteratorException") >= 1)
    } finally {
      resume.countDown()
      query.stop()
    }
  }
}
