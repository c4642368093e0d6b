package sparkkinesis.spark

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.connector.read.Scan
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import sparkkinesis.Repository
import sparkkinesis.client.options.{ConnectionOptions, ForeignOptions, OptionException, Options}
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.spark.errors.ConnectorError
import sparkkinesis.spark.read.task.RecordRow
import sparkkinesis.spark.write.KinesisWriteBuilder

/** Other connectors' names, where Spark and the documentation meet them. */
class ForeignOptionsSuite extends AnyFunSuite {
  private val known = (SourceOptions.Names ++ KinesisWriteBuilder.OptionNames).distinct

  /** The options with secrets. The external id is no secret, because the role shows it. */
  private val secrets =
    Set("awsAccessKeyId", "awsSecretAccessKey", "awsSessionToken", "proxyPassword")

  test("Spark masks a secret in its plans under every name that we accept") {
    val taken = ForeignOptions.All.filter(_.counterpart.exists(secrets)).map(_.names)
    val names = (secrets ++ taken.flatten).flatMap(name => Seq(name, s"kinesis.$name"))
    assert(names.size > 2 * secrets.size + 2)
    val shown = new SQLConf().redactOptions(names.map(_ -> "hush").toMap)
    assert(shown.filter(_._2.contains("hush")) === Map.empty)
  }

  private def scan(options: CaseInsensitiveStringMap): Scan =
    new KinesisTable(RecordRow.Schema).newScanBuilder(options).build()

  test("an option in two cases: Spark's readers use the last one, and we refuse a map with both") {
    val region = Map("region" -> "eu-west-1")
    val reader = CaseInsensitiveMap(region + ("streamName" -> "a")) + ("STREAMNAME" -> "b")
    val last = new CaseInsensitiveStringMap(reader.originalMap.asJava)
    assert(scan(last).description === "Kinesis[b]")
    val both = region ++ Map("streamName" -> "a", "STREAMNAME" -> "b")
    val e = intercept[ConnectorError] {
      scan(new CaseInsensitiveStringMap(both.asJava))
    }
    assert(e.getMessage.contains("'STREAMNAME' and 'streamName' both mean"))
  }

  test("source and sink accept a connection in another connector's names") {
    val theirs = Map(
      "streamName" -> "orders",
      "endpointUrl" -> "https://kinesis.us-east-1.amazonaws.com",
      "awsAccessKeyId" -> "ID",
      "awsSecretKey" -> "hush"
    )
    val ours = Map(
      "streamName" -> "orders",
      "region" -> "us-east-1",
      "endpoint" -> "https://kinesis.us-east-1.amazonaws.com",
      "awsAccessKeyId" -> "ID",
      "awsSecretAccessKey" -> "hush"
    )
    val start = "STARTINGPOSITION" -> "TRIM_HORIZON"
    def source(options: Map[String, String]) = SourceOptions.parse(options + start, None)
    def sink(options: Map[String, String]) =
      ConnectionOptions.stream(Options.parse(options, KinesisWriteBuilder.OptionNames), None)
    assert(source(theirs) === source(ours) && sink(theirs) === sink(ours))
    val e = intercept[OptionException](sink(theirs + start))
    assert(e.condition === OptionException.UnknownOption)
  }

  private def code(names: Seq[String]): String = names.mkString("`", "`, `", "`")

  private def understood: Seq[String] = for {
    option <- ForeignOptions.All
    ours <- option.counterpart if known.contains(ours)
  } yield {
    val values = if (option.values.title.isEmpty) "" else s"; ${option.values.title}"
    s"| ${code(option.names)} | `$ours`$values | ${option.connectors} |"
  }

  private def refused: Seq[String] = for {
    option <- ForeignOptions.All if !option.counterpart.exists(known.contains)
    remedy <- option.remedyFor(known)
  } yield s"| ${code(option.names)} | $remedy | ${option.connectors} |"

  private def table(header: String, rows: Seq[String]): String =
    (Seq(header, "|---|---|---|") ++ rows).mkString("\n")

  private def document: String = Seq(
    "# Names in other connectors",
    Seq(
      "If you move a query from another connector, you can keep many option names.",
      "The connector accepts a name of another connector if it has the same meaning here.",
      "It refuses the other names with `KINESIS_UNKNOWN_OPTION`, and the message says what to do " +
        "instead."
    ).mkString("\n"),
    Seq(
      "- The prefix `kinesis.` is accepted before every name, and names are not case-sensitive.",
      "- The same option under two names is refused.",
      "- If no option names the region, the connector takes it from an `endpoint` of AWS."
    ).mkString("\n"),
    Seq(
      "The column \"Connector\" names the connectors that use the option:",
      "Databricks is the connector in Databricks Runtime, awslabs is spark-sql-kinesis-connector,",
      "kinesis-sql is the connector of Qubole and its forks, Glue is AWS Glue,",
      "and Kafka is Spark's connector for Apache Kafka.",
      "`ForeignOptionsSuite` writes this page from the table in the code."
    ).mkString("\n"),
    "## Accepted names",
    table("| Name in the other connector | Name here | Connector |", understood),
    "`startingPosition` also accepts `AT_TIMESTAMP 2026-11-21T08:00:00Z` (awslabs) and " +
      "`{\"at_timestamp\": \"2026-11-21T08:00:00Z\"}` (Databricks, without `format`).",
    "## Refused names",
    table("| Name in the other connector | What to do | Connector |", refused)
  ).mkString("", "\n\n", "\n")

  test("the table of other connectors' options in the documentation equals the code") {
    val file = Repository.root.resolve("docs/reference/option-names.md")
    if (sys.env.contains("UPDATE_GOLDEN")) Files.write(file, document.getBytes(UTF_8))
    assert(
      new String(Files.readAllBytes(file), UTF_8) === document,
      "UPDATE_GOLDEN=1 project/sbt \"connector/testOnly *ForeignOptionsSuite\" writes it again."
    )
  }
}
