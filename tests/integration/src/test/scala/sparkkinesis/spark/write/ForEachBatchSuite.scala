package sparkkinesis.spark.write

import java.nio.file.{Files, Paths}
import java.util.UUID
import java.util.concurrent.Executors

import scala.concurrent.duration._
import scala.concurrent.{Await, ExecutionContext, Future}

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.execution.streaming.MemoryStream
import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryException}
import org.apache.spark.sql.{DataFrame, SQLContext}

import sparkkinesis.model.StreamName
import sparkkinesis.spark.SparkFixture

/** Dead letters of batch writes in `foreachBatch`. */
class ForEachBatchSuite extends AnyFunSuite with SparkFixture {
  implicit private def sql: SQLContext = spark.sqlContext

  private def write(rows: DataFrame, to: StreamName, letters: String, more: (String, String)*) =
    rows
      .selectExpr("if(value % 5 = 0, null, 'x') data", "string(value) partitionKey")
      .write
      .format("kinesis")
      .options(options(to, ("deadLetterPath" -> letters) +: more: _*))
      .mode("append")
      .save()

  /** Two batches of 100 rows. The first one fails after its writes, twice, and runs again. */
  private def repeat(write: (DataFrame, Long) => Unit): UUID = {
    import spark.implicits._
    val (source, checkpoint) = (MemoryStream[Int], newCheckpoint())
    var failures = 2
    def start(): StreamingQuery = source
      .toDF()
      .writeStream
      .option("checkpointLocation", checkpoint)
      .foreachBatch { (batch: DataFrame, id: Long) =>
        write(batch, id)
        failures -= 1
        if (failures >= 0) throw new IllegalStateException("after the writes")
      }
      .start()
    source.addData(0 until 100)
    (1 to 2).foreach { _ =>
      val failing = start()
      assertThrows[StreamingQueryException](failing.processAllAvailable())
    }
    val query = start()
    try {
      query.processAllAvailable()
      source.addData(0 until 100)
      query.processAllAvailable()
    } finally query.stop()
    query.id
  }

  /** The number of bad rows per folder. */
  private def found(letters: String): Map[(String, Option[Long]), Int] = {
    import spark.implicits._
    val rows = spark.read.json(letters).selectExpr("queryId", "bigint(batchId)")
    rows.as[(String, Option[Long])].collect().toSeq.groupMapReduce(identity)(_ => 1)(_ + _)
  }

  test("a batch that runs again keeps the bad rows of each of its writes once") {
    val (to, letters) = (newStream(), newCheckpoint())
    val query = repeat { (batch, _) =>
      Seq("value < 50", "value >= 50").foreach(half => write(batch.where(half), to, letters))
    }
    val expected =
      for (id <- Seq(query.toString, s"$query-2"); batch <- 0 to 1)
        yield (id, Option(batch.toLong)) -> 10
    assert(found(letters) === expected.toMap)
  }

  test("a write that is repeated because its bad rows could not be kept has the same name") {
    import spark.implicits._
    val (to, letters, source) = (newStream(), newCheckpoint(), MemoryStream[Int])
    val query = source
      .toDF()
      .writeStream
      .option("checkpointLocation", newCheckpoint())
      .foreachBatch { (batch: DataFrame, _: Long) =>
        val id = batch.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId")
        val obstacle = Files.createDirectories(Paths.get(letters)).resolve(s"queryId=$id")
        Files.writeString(obstacle, "not a folder")
        assertThrows[Exception](write(batch, to, letters))
        Files.delete(obstacle)
        write(batch, to, letters)
      }
      .start()
    source.addData(0 until 100)
    try query.processAllAvailable()
    finally query.stop()
    assert(found(letters) === Map((query.id.toString, Some(0)) -> 20))
  }

  test("in a thread of the user, a batch that runs again needs a writeId to keep bad rows once") {
    val own = ExecutionContext.fromExecutorService(Executors.newSingleThreadExecutor())
    try {
      Await.ready(Future(())(own), 1.minute) // the thread is there before the query
      val (to, unnamed, named) = (newStream(), newCheckpoint(), newCheckpoint())
      repeat { (batch, id) =>
        val writes = Future {
          write(batch, to, unnamed)
          write(batch, to, named, "writeId" -> s"copy-$id")
        }(own)
        Await.result(writes, 1.minute)
      }
      assert(found(unnamed).values.toSeq === Seq.fill(4)(20), "three runs of the first batch")
      assert(found(named) === Map(("copy-0", None) -> 20, ("copy-1", None) -> 20))
    } finally own.shutdownNow(): Unit
  }
}
