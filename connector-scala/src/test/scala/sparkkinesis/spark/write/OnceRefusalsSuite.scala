package sparkkinesis.spark.write

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.SparkConf
import org.apache.spark.sql.connector.write.{
  LogicalWriteInfo,
  RequiresDistributionAndOrdering,
  Write
}
import org.apache.spark.sql.types.{BinaryType, StringType, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import sparkkinesis.spark.errors.ConnectorError
import sparkkinesis.spark.once.OnceQuery

/** Writes that cannot be exactly once are refused, and the error says what to do. */
class OnceRefusalsSuite extends AnyFunSuite {
  private val columns = new StructType().add("data", BinaryType).add("partitionKey", StringType)

  private val once = Map(
    "streamName" -> "orders",
    "region" -> "eu-west-1",
    "aggregation" -> "kpl",
    "deliveryGuarantee" -> "exactlyOnce",
    "checkpointLocation" -> "/c"
  )

  private def build(settings: Map[String, String], rows: StructType = columns): Write = {
    val map = new CaseInsensitiveStringMap(settings.asJava)
    new KinesisWriteBuilder(
      settings,
      new LogicalWriteInfo {
        override def options(): CaseInsensitiveStringMap = map
        override def queryId(): String = "q"
        override def schema(): StructType = rows
      }
    ).build()
  }

  private def refused(settings: Map[String, String], rows: StructType = columns): ConnectorError =
    intercept[ConnectorError](build(settings, rows))

  test("the rows of a key are in one task, with and without order") {
    Seq(once, once + ("ordering" -> "perKey")).foreach { settings =>
      assert(build(settings).isInstanceOf[RequiresDistributionAndOrdering])
    }
  }

  test("aggregation is needed") {
    val e = refused(once - "aggregation")
    assert(e.getCondition === "KINESIS_MISSING_OPTION" && e.getMessage.contains("aggregation"))
  }

  test("a timeout must leave time to look into the stream") {
    val e = refused(once + ("deliveryTimeout" -> "1m"))
    assert(e.getCondition === "KINESIS_INVALID_OPTION" && e.getMessage.contains("at least 3m"))
  }

  test("a call that may take longer than a request can live is refused") {
    build(once ++ Map("readTimeout" -> "35s", "callTimeout" -> "40s"))
    Seq("callTimeout" -> "41s", "readTimeout" -> "31s").foreach { timeout =>
      val e = refused(once + timeout)
      assert(e.getCondition === "KINESIS_EXACTLY_ONCE_UNSUPPORTED")
      assert(e.getMessage.contains("'callTimeout' to at most 40s"))
    }
    build(once - "deliveryGuarantee" + ("callTimeout" -> "5m"))
  }

  test("a checkpoint is needed, and offsets that are logged in time") {
    Map(
      (once - "checkpointLocation") -> "checkpointLocation",
      (once + ("asyncProgressTrackingEnabled" -> "true")) -> "asyncProgressTrackingEnabled"
    ).foreach { case (settings, name) =>
      val e = refused(settings)
      assert(e.getCondition === "KINESIS_EXACTLY_ONCE_UNSUPPORTED" && e.getMessage.contains(name))
    }
  }

  test("speculation is refused") {
    val conf = new SparkConf(false)
    OnceQuery.refuseSpeculation(conf)
    val e = intercept[ConnectorError] {
      OnceQuery.refuseSpeculation(conf.set("spark.speculation", "true"))
    }
    assert(e.getCondition === "KINESIS_EXACTLY_ONCE_UNSUPPORTED")
    assert(e.getMessage.contains("spark.speculation"))
  }

  test("a partition key is needed") {
    val e = refused(once, new StructType().add("data", BinaryType))
    assert(e.getCondition === "KINESIS_INVALID_SCHEMA" && e.getMessage.contains("exactlyOnce"))
  }

  test("hash keys, and streams that only columns name, are refused") {
    Seq("stream", "streamArn", "explicitHashKey").foreach { name =>
      val e = refused(once - "streamName", columns.add(name, StringType))
      assert(e.getMessage.contains(name))
    }
    val e = refused(once, columns.add("explicitHashKey", StringType))
    assert(e.getCondition === "KINESIS_EXACTLY_ONCE_UNSUPPORTED")
    build(once, columns.add("stream", StringType))
  }

  test("a batch write needs a name, and a streaming query has another one") {
    val named = once + ("writeId" -> "nightly")
    Seq[(String, () => Any)](
      "KINESIS_EXACTLY_ONCE_UNSUPPORTED" -> (() => build(once).toBatch),
      "KINESIS_CONFLICTING_OPTIONS" -> (() => build(named).toStreaming)
    ).foreach { case (condition, plan) =>
      val e = intercept[ConnectorError](plan())
      assert(e.getCondition === condition && e.getMessage.contains("'writeId'"))
    }
    assert(build(named).toBatch !== null)
    assert(build(once).toStreaming !== null)
    assert(refused(named - "checkpointLocation").getMessage.contains("checkpointLocation"))
    assert(build(once - "deliveryGuarantee").toBatch !== null)
  }
}
