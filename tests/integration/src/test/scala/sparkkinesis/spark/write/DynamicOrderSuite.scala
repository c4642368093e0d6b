package sparkkinesis.spark.write

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.execution.streaming.{MemoryStream, StreamingQueryWrapper}
import org.apache.spark.sql.{SQLContext, SparkSession}

import sparkkinesis.spark.SparkFixture

/** `ordering=perKey` if the number of executors changes by itself. */
class DynamicOrderSuite extends AnyFunSuite with SparkFixture {
  override protected def sparkBuilder: SparkSession.Builder = super.sparkBuilder
    .master("local[3]")
    .config("spark.dynamicAllocation.enabled", "true")
    .config("spark.sql.shuffle.partitions", 6)

  implicit private def sql: SQLContext = spark.sqlContext

  /** The number of tasks of an ordered write. */
  private def tasks(shards: Int): Int = {
    import spark.implicits._
    val source = MemoryStream[Int]
    val rows = source.toDF().selectExpr("string(value) data", "string(value % 10) partitionKey")
    val query = writing(rows, newStream(shards), "ordering" -> "perKey").start()
    try {
      source.addData(0 until 100)
      query.processAllAvailable()
      val plan = query.asInstanceOf[StreamingQueryWrapper].streamingQuery.lastExecution
      val count = ", (\\d+)\\), REPARTITION_BY_NUM".r
      count.findFirstMatchIn(plan.executedPlan.toString).get.group(1).toInt
    } finally query.stop()
  }

  test("the number of tasks is that of the shards, at most the shuffle partitions") {
    assert(Seq(2, 5, 7).map(tasks) === Seq(2, 5, 6))
  }
}
