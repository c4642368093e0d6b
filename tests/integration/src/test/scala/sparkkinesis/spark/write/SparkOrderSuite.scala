package sparkkinesis.spark.write

import java.time.Instant
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.scalatest.concurrent.Eventually._
import org.scalatest.concurrent.PatienceConfiguration.Timeout
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Seconds, Span}

import org.apache.spark.scheduler.{SparkListener, SparkListenerStageCompleted}
import org.apache.spark.sql.execution.streaming.{MemoryStream, StreamingQueryWrapper}
import org.apache.spark.sql.streaming.StreamingQueryException
import org.apache.spark.sql.{DataFrame, SQLContext, SparkSession}

import sparkkinesis.model.{RecordDistribution, StreamName}
import sparkkinesis.simulator.sdk.Arrived
import sparkkinesis.simulator.service.{SimulatedClock, SimulatedKinesis}
import sparkkinesis.spark.SparkFixture

/** `ordering=perKey` in Spark: which task writes which rows, and in what order. */
class SparkOrderSuite extends AnyFunSuite with SparkFixture {
  private lazy val clock = new SimulatedClock(Instant.parse("2026-01-01T00:00:00Z"))
  implicit private def sql: SQLContext = spark.sqlContext

  override protected def newKinesis(): SimulatedKinesis = new SimulatedKinesis(clock)

  override protected def sparkBuilder: SparkSession.Builder =
    super.sparkBuilder.master("local[3]").config("spark.sql.shuffle.partitions", 8)

  private val byKey = Seq("ordering" -> "perKey")
  private val bySeq = byKey :+ ("orderBy" -> "seq")

  /** Number of tasks of a last stage, which no write has. */
  private val Last = 31
  private val soon = Timeout(Span(30, Seconds))

  /** The numbers of each key, in the order of their arrival. */
  private def arrived(name: StreamName): Map[String, Seq[Int]] =
    Arrived.records(server.kinesis, name).groupMap(_.partitionKey.get)(Arrived.text(_).toInt)

  /** Rows with the keys k0 to k9. The rows of each key are in all partitions, and not in order. */
  private def shuffled(count: Int): DataFrame = spark
    .range(0, count.toLong, 1, 12)
    .selectExpr("(id * 7919) % " + count + " as seq")
    .selectExpr("cast(seq as string) data", "concat('k', seq % 10) partitionKey", "seq")

  private def expected(count: Int): Map[String, Seq[Int]] =
    (0 until count).groupBy(seq => s"k${seq % 10}")

  /** The number of tasks of each stage of the action, in the order of their ends. */
  private def stages(action: => Unit): Seq[Int] = {
    val seen = new ConcurrentLinkedQueue[Int]
    val listener = new SparkListener {
      override def onStageCompleted(stage: SparkListenerStageCompleted): Unit = {
        seen.add(stage.stageInfo.numTasks)
        ()
      }
    }
    spark.sparkContext.addSparkListener(listener)
    try {
      action
      spark.sparkContext.parallelize(1 to Last, Last).count() // the last stage
      eventually(soon)(assert(seen.asScala.exists(_ == Last)))
    } finally spark.sparkContext.removeSparkListener(listener)
    seen.asScala.toSeq.filterNot(_ == Last)
  }

  private def write(rows: DataFrame, options: Map[String, String]): Unit =
    rows.write.format("kinesis").options(options).mode("append").save()

  test("a batch write has one task per slot, and each key arrives in order") {
    val stream = newStream()
    assert(stages(write(shuffled(3000), options(stream, bySeq: _*))) === Seq(12, 3))
    assert(arrived(stream) === expected(3000))
  }

  test("few rows are not put into one task, and there are no more tasks than shuffle partitions") {
    val few = shuffled(20).drop("seq")
    assert(stages(write(few, options(newStream(), byKey: _*))).last === 3)
    spark.conf.set("spark.sql.shuffle.partitions", 2)
    try assert(stages(write(few, options(newStream(), byKey: _*))).last === 2)
    finally spark.conf.set("spark.sql.shuffle.partitions", 8)
  }

  test("without the option no rows are shuffled") {
    val rows = shuffled(100).drop("seq")
    assert(stages(write(rows, options(newStream()))) === Seq(12))
  }

  test("each batch of a streaming write is clustered and sorted, in the modes append and update") {
    import spark.implicits._
    Seq("append", "update").foreach { mode =>
      val stream = newStream()
      val source = MemoryStream[Int]
      val rows = source
        .toDF()
        .repartition(12)
        .selectExpr(
          "cast(value as string) data",
          "concat('k', value % 10) PartitionKey",
          "value seq"
        )
      val query = writing(rows, stream, bySeq: _*).outputMode(mode).start()
      try {
        Seq(0 until 1000, 1000 until 2000).foreach { values =>
          source.addData(values.reverse)
          query.processAllAvailable()
        }
        assert(arrived(stream) === expected(2000))
        val plan = query.asInstanceOf[StreamingQueryWrapper].streamingQuery.lastExecution
        val text = plan.executedPlan.toString
        assert(text.contains("Exchange hashpartitioning(PartitionKey#"))
        assert(text.contains(", 3), REPARTITION_BY_NUM"))
        assert("Sort \\[seq#\\d+ ASC NULLS FIRST\\], false".r.findFirstIn(text).nonEmpty, text)
      } finally query.stop()
    }
  }

  test("a write in foreachBatch is ordered like a batch write") {
    import spark.implicits._
    val stream = newStream()
    val source = MemoryStream[Int]
    val query = source
      .toDF()
      .writeStream
      .option("checkpointLocation", newCheckpoint())
      .foreachBatch { (batch: DataFrame, _: Long) =>
        val rows = batch
          .selectExpr(
            "cast(value as string) data",
            "concat('k', value % 10) partitionKey",
            "value seq"
          )
        write(rows.repartition(7), options(stream, bySeq: _*))
      }
      .start()
    try {
      source.addData((0 until 500).reverse)
      query.processAllAvailable()
      assert(arrived(stream) === expected(500))
    } finally query.stop()
  }

  test("without orderBy the rows of a key keep the order of their partition") {
    val stream = newStream()
    val rows = spark
      .range(0, 2000, 1, 1)
      .selectExpr("cast(id as string) data", "concat('k', id % 10) partitionKey")
    write(rows, options(stream, byKey: _*))
    assert(arrived(stream) === expected(2000))
  }

  test("a stream that begins to choose shards by itself is refused at the next batch") {
    import spark.implicits._
    val name = StreamName("later")
    server.kinesis.createOnDemandStream(name)
    val source = MemoryStream[Int]
    val rows = source
      .toDF()
      .selectExpr("cast(value as string) data", "concat('k', value % 10) partitionKey")
    val query = writing(rows, name, byKey: _*).start()
    try {
      source.addData(0 until 20)
      query.processAllAvailable()
      server.kinesis.updateDistribution(name, RecordDistribution.Auto)
      source.addData(20 until 40)
      val e = intercept[StreamingQueryException](query.processAllAvailable())
      assert(e.getMessage.contains("[KINESIS_AUTO_DISTRIBUTION] Stream later"), e.getMessage)
    } finally query.stop()
  }

  test("a stream that chooses shards by itself is refused before a record is sent") {
    val name = StreamName("auto")
    server.kinesis.createOnDemandStream(name)
    server.kinesis.updateDistribution(name, RecordDistribution.Auto)
    Seq("ordering" -> "perKey", "aggregation" -> "kpl").foreach { option =>
      val e = intercept[Exception](write(shuffled(20).drop("seq"), options(name, option)))
      val said = Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null).mkString("\n")
      assert(
        said.contains(
          "[KINESIS_AUTO_DISTRIBUTION] Stream auto has record distribution strategy AUTO"
        )
      )
    }
    assert(arrived(name) === Map.empty)
    write(shuffled(20).drop("seq"), options(name))
    assert(arrived(name).values.map(_.size).sum === 20)
  }
}
