package sparkkinesis.spark.write

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.connector.write.{
  LogicalWriteInfo,
  RequiresDistributionAndOrdering,
  Write
}
import org.apache.spark.sql.types.{BinaryType, StringType, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import sparkkinesis.spark.errors.ConnectorError

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

  test("a checkpoint is needed, and offsets that are logged in time") {
    Map(
      (once - "checkpointLocation") -> "checkpointLocation",
      (once + ("asyncProgressTrackingEnabled" -> "true")) -> "asyncProgressTrackingEnabled"
    ).foreach { case (settings, name) =>
      val e = refused(settings)
      assert(e.getCondition === "KINESIS_EXACTLY_ONCE_UNSUPPORTED" && e.getMessage.contains(name))
    }
  }

  test("a partition key is needed") {
    val e = refused(once, new StructType().add("data", BinaryType))
    assert(e.getCondition === "KINESIS_INVALID_SCHEMA" && e.getMessage.contains("exactlyOnce"))
  }

  test("columns that name streams and hash keys are refused") {
    Seq("stream", "explicitHashKey").foreach { name =>
      val e = refused(once, columns.add(name, StringType))
      assert(e.getCondition === "KINESIS_EXACTLY_ONCE_UNSUPPORTED" && e.getMessage.contains(name))
    }
    val e = refused(once, columns.add("streamArn", StringType))
    assert(e.getCondition === "KINESIS_EXACTLY_ONCE_UNSUPPORTED")
  }

  test("a batch write is refused") {
    val e = intercept[ConnectorError](build(once).toBatch)
    assert(e.getCondition === "KINESIS_EXACTLY_ONCE_UNSUPPORTED")
    assert(build(once - "deliveryGuarantee").toBatch !== null)
  }
}
