package sparkkinesis.spark

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import sparkkinesis.Repository
import sparkkinesis.client.options.ForeignOption.{Different, Same}
import sparkkinesis.client.options.{ConnectionOptions, ForeignOptions, OptionException, Options}
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.spark.write.KinesisWriteBuilder

/** Other connectors' names, where Spark and the documentation meet them. */
class ForeignOptionsSuite extends AnyFunSuite {
  private val known = (SourceOptions.Names ++ KinesisWriteBuilder.OptionNames).distinct

  /** The external id is none: whoever may see the role may see it. */
  private val secrets = Set("awsAccessKeyId", "awsSecretAccessKey", "awsSessionToken")

  test("Spark masks a secret in its plans under every name that we take") {
    val taken = ForeignOptions.All.collect { case same: Same if secrets(same.ours) => same.names }
    val names = (secrets ++ taken.flatten).flatMap(name => Seq(name, s"kinesis.$name"))
    assert(names.size > 2 * secrets.size)
    val shown = new SQLConf().redactOptions(names.map(_ -> "hush").toMap)
    assert(shown.filter(_._2.contains("hush")) === Map.empty)
  }

  test("of one name in two cases Spark's readers take the last; a map of both is refused") {
    val region = Map("region" -> "eu-west-1")
    val reader = CaseInsensitiveMap(region + ("streamName" -> "a")) + ("STREAMNAME" -> "b")
    val last = new CaseInsensitiveStringMap(reader.originalMap.asJava)
    assert(KinesisTable.sourceOptions(last).names === "b")
    val both = region ++ Map("streamName" -> "a", "STREAMNAME" -> "b")
    val e = intercept[ConnectorError] {
      KinesisTable.sourceOptions(new CaseInsensitiveStringMap(both.asJava))
    }
    assert(e.getMessage.contains("'STREAMNAME' and 'streamName' are the same one"))
  }

  test("source and sink take a connection in another connector's words") {
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

  private def understood: Seq[String] = ForeignOptions.All.collect {
    case Same(ours, names, of, form, _) if known.contains(ours) =>
      val values = if (form.title.isEmpty) "" else s"; ${form.title}"
      s"| ${code(names)} | `$ours`$values | $of |"
  }

  private def refused: Seq[String] = ForeignOptions.All.collect {
    case Different(names, of, remedy, naming) if naming.forall(known.contains) =>
      s"| ${code(names)} | $remedy | $of |"
    case Same(ours, names, of, _, absent) if !known.contains(ours) && absent.nonEmpty =>
      s"| ${code(names)} | $absent | $of |"
  }

  private def table(header: String, rows: Seq[String]): String =
    (Seq(header, "|---|---|---|") ++ rows).mkString("\n")

  private def document: String = Seq(
    "# Coming from another connector",
    Seq(
      "The names that other connectors have for an option are understood where they mean the same,",
      "and refused with what to do where they do not.",
      "`kinesis.` may stand before any name; case does not matter.",
      "An option given by two names is refused.",
      "Where no region is given, an `endpoint` of AWS tells it."
    ).mkString("\n"),
    Seq(
      "Databricks is its runtime's connector, awslabs the spark-sql-kinesis-connector,",
      "kinesis-sql Qubole's and its descendants, Glue AWS Glue's, Kafka Spark's own.",
      "`ForeignOptionsSuite` writes this page from the table that the connector uses: edit that."
    ).mkString("\n"),
    "## Understood",
    table("| theirs | here | of |", understood),
    "`startingPosition` also takes `AT_TIMESTAMP 2026-11-21T08:00:00Z` (awslabs) and " +
      "`{\"at_timestamp\": \"2026-11-21T08:00:00Z\"}` (Databricks, without `format`).",
    "## Refused",
    table("| theirs | what to do | of |", refused)
  ).mkString("", "\n\n", "\n")

  test("the documentation's table is the connector's") {
    val file = Repository.root.resolve("docs/option-names.md")
    if (sys.env.contains("UPDATE_GOLDEN")) Files.write(file, document.getBytes(UTF_8))
    assert(
      new String(Files.readAllBytes(file), UTF_8) === document,
      "UPDATE_GOLDEN=1 project/sbt \"connector/testOnly *ForeignOptionsSuite\" writes it anew."
    )
  }
}
