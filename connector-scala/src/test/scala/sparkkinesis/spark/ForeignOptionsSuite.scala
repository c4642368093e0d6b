package sparkkinesis.spark

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files
import java.util.Locale

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.connector.read.Scan
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import sparkkinesis.Repository
import sparkkinesis.client.options._
import sparkkinesis.sink.SinkOptions
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.spark.errors.ConnectorError
import sparkkinesis.spark.read.task.RecordRow

/** Other connectors' names: the hint in the error for an unknown option, and the documentation. */
class ForeignOptionsSuite extends AnyFunSuite {
  private val known = (SourceOptions.All ++ SinkOptions.All).distinct

  private def refusal(name: String, options: Seq[OptionSpec[_]]): String = {
    val e = intercept[OptionException](Options.parse(Map(name -> "hush"), options))
    assert(e.condition === OptionException.UnknownOption)
    e.getMessage
  }

  test("the error for another connector's option says what to do, in any spelling of the name") {
    for (option <- ForeignOptions.All; name <- option.names)
      Seq(name, name.toUpperCase(Locale.ROOT), s"kinesis.$name", s"KINESIS.$name").foreach { it =>
        assert(refusal(it, known) === s"There is no option '$it'. ${option.hint}")
      }
  }

  test("the hint names the connectors, our option, and how to write its value") {
    assert(
      refusal("kinesis.consumerType", known) === "There is no option 'kinesis.consumerType'. It " +
        "is an option of awslabs; here it is 'consumerMode'. Write GetRecords as polling, and " +
        "SubscribeToShard as efo."
    )
  }

  test("every hint names only options that exist there") {
    val names = known.map(_.name)
    Seq(Nil, SourceOptions.All, SinkOptions.All).foreach { there =>
      val others = names.diff(there.map(_.name)).map(it => s"'$it'")
      ForeignOptions.All.flatMap(_.names).foreach { name =>
        val hint = ForeignOptions.hint(name, there.map(_.name)).mkString
        assert(!others.exists(hint.contains), name)
      }
    }
    ForeignOptions.All.flatMap(_.ours).foreach(ours => assert(names.contains(ours)))
  }

  test("no name is in the table twice, and none is one of our own") {
    val names = ForeignOptions.All.flatMap(_.names).map(OptionNames.normalized)
    assert(names.diff(names.distinct) === Nil)
    assert(names.intersect(known.map(it => OptionNames.normalized(it.name))) === Nil)
  }

  test("Spark masks a secret in its plans, with and without the prefix") {
    // The external id is no secret, because the role shows it.
    val secrets = known.filter(_.isSecret).map(_.name).filterNot(_ == "roleExternalId")
    assert(secrets.size === 5)
    val names = secrets.flatMap(name => Seq(name, s"kinesis.$name"))
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

  private def row(option: ForeignOption): String = {
    val ours = option.ours.map(it => s"`$it`.")
    val remedy = "'(\\w+)'".r.replaceAllIn(option.remedy, "`$1`")
    val names = option.names.mkString("`", "`, `", "`")
    s"| $names | ${(ours ++ Seq(remedy)).filter(_.nonEmpty).mkString(" ")} | ${option.connectors} |"
  }

  test("the table of other connectors' options in the documentation equals the code") {
    val file = Repository.root.resolve("docs/reference/option-names.md")
    val page = new String(Files.readAllBytes(file), UTF_8)
    val head = Seq(
      "| Name in the other connector | Option here, or what to do | Connector |",
      "|---|---|---|"
    )
    val above = page.linesIterator.takeWhile(!_.startsWith("|")).toSeq
    val document = (above ++ head ++ ForeignOptions.All.map(row)).mkString("", "\n", "\n")
    if (sys.env.contains("UPDATE_GOLDEN")) Files.write(file, document.getBytes(UTF_8))
    else
      assert(
        page === document,
        "UPDATE_GOLDEN=1 project/sbt \"connector/testOnly *ForeignOptionsSuite\" writes it again."
      )
  }
}
