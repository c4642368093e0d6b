package sparkkinesis.spark

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.connector.expressions.{Expressions, Transform}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import sparkkinesis.client.options.OptionException
import sparkkinesis.spark.errors.ConnectorError
import sparkkinesis.spark.read.task.RecordRow

/** Table definitions as Spark's session catalog passes them: each option under two names. */
class TableDefinitionSuite extends AnyFunSuite {
  private val stream = Map("streamName" -> "orders", "region" -> "eu-west-1")

  private def properties(options: Map[String, String]): CaseInsensitiveStringMap = {
    val both = options ++ options.map { case (name, value) => s"option.$name" -> value }
    val catalogs = Map("provider" -> "kinesis", "owner" -> "me", "path" -> "file:/warehouse/t")
    new CaseInsensitiveStringMap((both ++ catalogs).asJava)
  }

  private val Role = "arn:aws:iam::123456789012:role/reader"

  private def definition(options: (String, String)*): TableDefinition =
    TableDefinition.of(properties(options.toMap)).get

  test("the options of a DataFrame are not a table definition") {
    assert(TableDefinition.of(new CaseInsensitiveStringMap(stream.asJava)) === None)
  }

  test("a read and a write use their own options, and both refuse an unknown one") {
    val defined = definition(
      "streamName" -> "orders",
      "startingPosition" -> "trim_horizon",
      "deliveryTimeout" -> "1m",
      "streamNmae" -> "x"
    )
    assert(defined.sourceOptions.keySet === Set("streamName", "startingPosition", "streamNmae"))
    assert(defined.sinkOptions.keySet === Set("streamName", "deliveryTimeout", "streamNmae"))
  }

  test("an option of the query replaces the one of the definition, in any case") {
    val query = new CaseInsensitiveStringMap(Map("STREAMNAME" -> "returns").asJava)
    assert(
      TableDefinition.merged(stream, query) === Map(
        "region" -> "eu-west-1",
        "STREAMNAME" -> "returns"
      )
    )
  }

  private val keys =
    Seq("awsAccessKeyId", "AWSSECRETACCESSKEY", "kinesis.awsSessionToken", "sessionToken")

  test("static keys are refused by name when a table is created and when it is used") {
    keys.foreach { key =>
      val defined = properties(stream + (key -> "hush"))
      val provider = new KinesisTableProvider
      val table = provider.getTable(RecordRow.Schema, Array.empty, defined)
      Seq[() => Any](
        () => provider.inferSchema(defined),
        () => provider.inferPartitioning(defined),
        () => {
          val none = CaseInsensitiveStringMap.empty
          table.asInstanceOf[KinesisTable].newScanBuilder(none).build().toBatch
        }
      ).foreach { use =>
        val e = intercept[ConnectorError](use())
        assert(e.getCondition === OptionException.StaticKeysInTable)
        assert(e.getMessage.contains(s"'$key'") && e.getMessage.contains("'roleArn'"))
        assert(!e.getMessage.contains("hush"))
      }
    }
  }

  test("a table cannot say where calls go, whom they trust, or which class runs") {
    val unsafe = Seq(
      "endpoint" -> "https://kinesis.example.com",
      "kinesis.ENDPOINT" -> "https://127.0.0.1.example.com",
      "kinesis.stsEndpoint" -> "https://127.0.0.1",
      "PROXY" -> "http://127.0.0.1:3128",
      "caBundle" -> "/tmp/ca.pem",
      "allowUnencryptedEndpoint" -> "true",
      "credentialsProvider" -> "com.example.Vault"
    )
    val none = CaseInsensitiveStringMap.empty
    unsafe.foreach { case (name, value) =>
      val defined = properties(stream + (name -> value) + ("roleArn" -> Role))
      val provider = new KinesisTableProvider
      val table = provider.getTable(RecordRow.Schema, Array.empty, defined)
      Seq[() => Any](
        () => provider.inferSchema(defined),
        () => provider.inferPartitioning(defined),
        () => table.asInstanceOf[KinesisTable].newScanBuilder(none).build().toBatch
      ).foreach { use =>
        val e = intercept[ConnectorError](use())
        assert(e.getCondition === OptionException.UnsafeInTable)
        assert(e.getMessage.contains(s"'$name'"))
      }
    }
    val local = properties(stream + ("endpoint" -> "http://127.0.0.1:4567"))
    new KinesisTableProvider().inferSchema(local)
  }

  test("secrets are masked in the table properties under both names") {
    val others = Seq("roleExternalId", "credentialsProviderSecret", "proxyPassword")
    val secrets = (keys ++ others).map(_ -> "hush").toMap
    val table =
      new KinesisTable(RecordRow.Schema, TableDefinition.of(properties(stream ++ secrets)))
    val shown = table.properties.asScala
    assert(!shown.exists(_._2.contains("hush")) && shown.values.count(_ == "***") === 14)
    assert(shown("option.streamName") === "orders" && shown("provider") === "kinesis")
  }

  test("an invalid definition is refused when the table is created") {
    val e = intercept[ConnectorError] {
      new KinesisTableProvider().inferSchema(properties(stream + ("streamNmae" -> "x")))
    }
    assert(e.getCondition === OptionException.UnknownOption)
  }

  test("a table has no partitions") {
    val partitions = Array[Transform](Expressions.identity("shardId"))
    val e = intercept[ConnectorError] {
      new KinesisTableProvider().getTable(RecordRow.Schema, partitions, properties(stream))
    }
    assert(e.getMessage.contains("PARTITIONED BY"))
  }
}
