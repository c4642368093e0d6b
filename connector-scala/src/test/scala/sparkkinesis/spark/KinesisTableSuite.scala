package sparkkinesis.spark

import java.util.ServiceLoader

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks._

import org.apache.spark.sparkkinesis.Messages
import org.apache.spark.sql.connector.catalog.TableCapability._
import org.apache.spark.sql.sources.DataSourceRegister
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import sparkkinesis.Generators.arn
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.spark.errors.ConnectorError
import sparkkinesis.spark.read.task.{QueryRun, RecordRow}

class KinesisTableSuite extends AnyFunSuite {
  private val good = Map("streamName" -> "orders", "region" -> "eu-west-1")

  private def options(map: Map[String, String]) = new CaseInsensitiveStringMap(map.asJava)

  test("Spark finds the data source under two names") {
    val found = ServiceLoader.load(classOf[DataSourceRegister]).asScala.collect {
      case ours: KinesisTableProvider => ours.shortName() -> ours.getClass
    }
    assert(
      found.toMap === Map(
        "kinesis" -> classOf[KinesisTableProvider],
        "spark-kinesis" -> classOf[SparkKinesisTableProvider]
      )
    )
  }

  test("the table supports reads and writes in batches and streams, for any schema") {
    val table = new KinesisTableProvider().getTable(RecordRow.Schema, Array.empty, Map.empty.asJava)
    val expected =
      Set(BATCH_READ, MICRO_BATCH_READ, BATCH_WRITE, STREAMING_WRITE, ACCEPT_ANY_SCHEMA)
    assert(table.capabilities().asScala === expected)
  }

  private val refused = Table(
    ("options", "condition"),
    (Map.empty[String, String], "KINESIS_MISSING_OPTION"),
    (good + ("streamNmae" -> "x"), "KINESIS_UNKNOWN_OPTION"),
    (good + ("startingPosition" -> "soon"), "KINESIS_INVALID_OPTION"),
    (
      good + ("streamArn" -> "arn:aws:kinesis:eu-west-1:123456789012:stream/a"),
      "KINESIS_CONFLICTING_OPTIONS"
    )
  )

  test("an invalid option raises an error with its condition when the DataFrame is defined") {
    forAll(refused) { (map, condition) =>
      val definitions = Seq[CaseInsensitiveStringMap => Any](
        new KinesisTableProvider().inferSchema(_),
        new KinesisTable(RecordRow.Schema).newScanBuilder(_)
      )
      definitions.foreach { define =>
        val e = intercept[ConnectorError](define(options(map)))
        assert(e.getCondition === condition && e.getMessage.startsWith(s"[$condition]"))
        assert(e.isInstanceOf[IllegalArgumentException], "what PySpark passes on")
      }
    }
  }

  test("the description of a scan has its stream and no secret") {
    val keys = Map("awsAccessKeyId" -> "hush", "awsSecretAccessKey" -> "hush")
    val scan = new KinesisTable(RecordRow.Schema).newScanBuilder(options(good ++ keys)).build()
    assert(scan.description() === "Kinesis[orders]" && scan.readSchema() === RecordRow.Schema)
    assert(!scan.toString.contains("hush"))
  }

  test("another schema is refused, and the error says what to do") {
    val other = new KinesisTable(StructType.fromDDL("x INT"))
    val e = intercept[ConnectorError](other.newScanBuilder(options(good)))
    assert(e.getMessage.contains("x:int") && e.getMessage.contains("from_json"))
  }

  test(
    "a run is serialized to bytes, so that it does not depend on the class loader of Spark's RPC"
  ) {
    val parsed = SourceOptions.parse(good, None)
    val run = QueryRun("run-1", parsed, Map(arn -> parsed.streams.head), Map.empty)
    assert(Messages.decode[QueryRun](Messages.encode(run)) === run)
  }
}
