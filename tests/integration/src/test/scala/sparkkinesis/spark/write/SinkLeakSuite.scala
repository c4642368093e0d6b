package sparkkinesis.spark.write

import java.nio.file.Files

import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.SQLContext
import org.apache.spark.sql.execution.streaming.MemoryStream
import org.apache.spark.sql.streaming.StreamingQuery

import sparkkinesis.client.aws.ClientPool
import sparkkinesis.model.StreamName
import sparkkinesis.simulator.KinesisServer
import sparkkinesis.simulator.service.SimulatedKinesis
import sparkkinesis.spark.Leaks
import sparkkinesis.{Repeated, Slow, TestScope}

/** A query that writes leaves nothing behind, after each batch and after each run. */
class SinkLeakSuite extends AnyFunSuite with BeforeAndAfterAll with Leaks {
  private lazy val server = KinesisServer.start()
  private lazy val spark = forgetfulSpark()
  implicit private def sql: SQLContext = spark.sqlContext

  override protected def afterAll(): Unit = {
    spark.stop()
    server.close()
  }

  private class Fixture(name: String) {
    import spark.implicits._
    private val source = MemoryStream[Int]
    private val checkpoint = Files.createTempDirectory("sink-leaks").toString
    server.kinesis.createStream(StreamName(name), 2)

    def start(): StreamingQuery = source
      .toDF()
      .selectExpr("cast(value as string) data", "concat('k', value % 100) partitionKey")
      .writeStream
      .format("kinesis")
      .option("streamName", name)
      .option("region", SimulatedKinesis.Region)
      .option("endpoint", server.endpoint.toString)
      .option("awsAccessKeyId", "ID")
      .option("awsSecretAccessKey", "hush")
      .option("aggregation", "kpl")
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
      assert(!threads.contains("spark-kinesis-writer-N"))
    }
  }

  test("many batches leave no thread, no loan, no client and no heap behind", Slow) {
    val fixture = new Fixture("many-batches-out")
    val query = fixture.start()
    try {
      (1 to 150).foreach(_ => fixture.runBatch(query))
      eventually(fixture.assertNothingBorrowed())
      val (heap, held, ours, open) = (liveHeap, objects, threads, endpoints)
      val loans = ClientPool.shared.loans
      assert(loans === 1, "of the stream, kept for the next batch")
      (1 to Batches).foreach(_ => fixture.runBatch(query))
      eventually(fixture.assertNothingBorrowed())
      val grown = liveHeap - heap
      info(s"$grown bytes in $Batches batches; threads: $ours")
      assert(more(objects, held).filter(_._2 >= Batches / 2) === Map.empty)
      assert(moreThreads(ours) === Map.empty && endpoints === open)
      assert(ClientPool.shared.loans === loans)
      assert(grown < Batches * 8192, "bytes that stay of a batch, Spark's own included")
    } finally query.stop()
  }

  test("many runs of a query leave no thread, no loan, no client and no heap behind", Repeated) {
    val fixture = new Fixture("many-runs-out")
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

  private val Batches = 400
  private val Runs = if (TestScope.isQuick) 10 else 40
}
