package sparkkinesis.spark.write

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.execution.streaming.MemoryStream
import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.{SQLContext, SparkSession}

import sparkkinesis.client.aws.ClientPool
import sparkkinesis.spark.{Leaks, SparkFixture}
import sparkkinesis.{Repeated, Slow, TestScope}

/** A query that writes leaves nothing behind, after each batch and after each run. */
class SinkLeakSuite extends AnyFunSuite with SparkFixture with Leaks {
  override protected def sparkBuilder: SparkSession.Builder = forgetful(super.sparkBuilder)
  implicit private def sql: SQLContext = spark.sqlContext

  private class Fixture {
    import spark.implicits._
    private val source = MemoryStream[Int]
    private val checkpoint = newCheckpoint()
    private val stream = newStream(shards = 2)

    def start(): StreamingQuery = source
      .toDF()
      .selectExpr("cast(value as string) data", "concat('k', value % 100) partitionKey")
      .writeStream
      .format("kinesis")
      .options(options(stream, "aggregation" -> "kpl"))
      .option("checkpointLocation", checkpoint)
      .start()

    /** A few rows, and the batch that writes them. */
    def runBatch(query: StreamingQuery): Unit = {
      source.addData(1 to 10)
      query.processAllAvailable()
    }

    /** Nobody writes now. */
    def assertNothingBorrowed(): Unit = {
      assert(RoutedStreams.shared.loans === 0)
      assert(!threads.contains("spark-kinesis-writer"))
    }
  }

  test("many batches leave no thread, no loan, no client and no heap behind", Slow) {
    val fixture = new Fixture
    val query = fixture.start()
    try {
      (1 to 150).foreach(_ => fixture.runBatch(query))
      eventually(fixture.assertNothingBorrowed())
      val (heap, held, ours, open) = (liveHeap, objects, threads, endpoints)
      val loans = ClientPool.shared.loans
      assert(loans === 1, "of the stream, kept for the next batch")
      (1 to Batches).foreach(_ => fixture.runBatch(query))
      eventually(fixture.assertNothingBorrowed())
      assert(more(objects, held).filter(_._2 >= Batches / 2) === Map.empty)
      eventually(assert(moreThreads(ours) === Map.empty && endpoints === open))
      assert(ClientPool.shared.loans === loans)
      eventually(assert(liveHeap - heap < mostGrowth(Batches, 5000)))
    } finally query.stop()
  }

  test("many runs of a query leave no thread, no loan, no client and no heap behind", Repeated) {
    val fixture = new Fixture
    def run(): Unit = {
      val query = fixture.start()
      try fixture.runBatch(query)
      finally query.stop()
    }
    (1 to 3).foreach(_ => run())
    val (held, ours, open, loans) = (objects, threads, endpoints, ClientPool.shared.loans)
    assert(held.contains(classOf[RoutedStream].getName), "it sees objects")
    (1 to Runs).foreach(_ => run())
    eventually(fixture.assertNothingBorrowed())
    eventually(assert(moreThreads(ours) === Map.empty && endpoints === open))
    assert(more(objects, held).filter(_._2 >= Runs / 2) === Map.empty)
    assert(ClientPool.shared.loans <= loans)
  }

  test("a minute after the last write no client is borrowed", Slow) {
    assert(ClientPool.shared.loans > 0, "kept for a while")
    eventually(assert(ClientPool.shared.loans === 0))
  }

  private val Batches = if (TestScope.isCi) 150 else 400
  private val Runs = if (TestScope.isQuick) 10 else 40
}
