package sparkkinesis.spark.read

import java.util.concurrent.atomic.AtomicLong

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.{DataFrame, SparkSession}

import sparkkinesis.client.Pool
import sparkkinesis.client.aws.ClientPool
import sparkkinesis.model.PutEntry
import sparkkinesis.spark.read.task.FetchServices
import sparkkinesis.spark.{Leaks, SparkFixture}
import sparkkinesis.{Repeated, Slow, TestScope}

/** A query that reads leaves nothing behind, after each batch and after each run. */
class LeakSuite extends AnyFunSuite with SparkFixture with Leaks {
  override protected def sparkBuilder: SparkSession.Builder = forgetful(super.sparkBuilder)

  private class Fixture {
    private val stream = newStream(shards = 2)
    private val checkpoint = newCheckpoint()
    spark.streams // begins with the fixture
    private val seen = new AtomicLong // the newest record that arrived
    private var put = 0L

    def start(): StreamingQuery =
      readAll(stream, "minFetchPeriod" -> "1ms", "idleFetchPeriod" -> "5ms").writeStream
        .option("checkpointLocation", checkpoint)
        .foreachBatch { (frame: DataFrame, _: Long) =>
          val numbers = frame.selectExpr("cast(string(data) as long)").collect().map(_.getLong(0))
          numbers.foreach(seen.accumulateAndGet(_, math.max(_, _)))
        }
        .start()

    /** Writes one record, and waits for its batch. */
    def runBatch(query: StreamingQuery): Unit = {
      put += 1
      server.kinesis.putRecord(stream, PutEntry(s"k$put", s"$put".getBytes, None))
      eventually(assert(seen.get >= put || !query.isActive))
      query.exception.foreach(throw _)
    }
  }

  private def progress(query: StreamingQuery, name: String): Long =
    query.lastProgress.sources.head.metrics.get(name).toLong

  private def assertNothingLeft(): Unit = {
    assert(FetchServices.count === 0)
    assert(ClientPool.shared.loans === 0)
    assert(spark.sparkContext.getPersistentRDDs.isEmpty)
    assert(spark.sparkContext.statusTracker.getActiveJobIds().isEmpty)
  }

  test("many batches leave no thread, no endpoint, no page and no heap behind", Slow) {
    val fixture = new Fixture
    val before = endpoints
    val query = fixture.start()
    try {
      (1 to WarmUp).foreach(_ => fixture.runBatch(query))
      val (heap, held, ours, open) = (liveHeap, objects, threads, endpoints)
      (1 to Batches).foreach(_ => fixture.runBatch(query))
      assert(more(objects, held).filter(_._2 >= Batches / 2) === Map.empty)
      assert(query.lastProgress.batchId > Batches + WarmUp / 2)
      eventually(assert(moreThreads(ours) === Map.empty && endpoints === open))
      assert(FetchServices.count === 1)
      assert(progress(query, "bufferedBytes") < 10000, "a batch's pages go with the next")
      eventually(assert(liveHeap - heap < mostGrowth(Batches, 3000)))
    } finally query.stop()
    eventually(assertNothingLeft())
    eventually(assert(endpoints <= before + StatesAndCommits))
  }

  test(
    "many runs of a query leave no thread, no endpoint, no page and no client behind",
    Repeated
  ) {
    val fixture = new Fixture
    def run(): Unit = {
      val query = fixture.start()
      try fixture.runBatch(query)
      finally query.stop()
      assert(!query.isActive)
    }
    (1 to 3).foreach(_ => run())
    eventually(assertNothingLeft())
    val (held, ours, open) = (objects, threads, endpoints)
    assert(held.contains(classOf[Pool[_, _]].getName), "it sees objects")
    (1 to Runs).foreach(_ => run())
    eventually(assertNothingLeft())
    eventually(assert(moreThreads(ours) === Map.empty && endpoints === open))
    assert(more(objects, held).filter(_._2 >= Runs / 2) === Map.empty)
  }

  private val WarmUp = 300
  private val Batches = if (TestScope.isCi) 300 else 1000
  private val Runs = if (TestScope.isQuick) 10 else 50

  /** What Spark creates with its first streaming query and keeps. */
  private val StatesAndCommits = 2
}
