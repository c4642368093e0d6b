package sparkkinesis.spark

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Repository
import sparkkinesis.client.options.OptionType.{duration, word}
import sparkkinesis.client.options._
import sparkkinesis.sink.{SinkOptions, SinkTable}
import sparkkinesis.source.options.{SourceOptions, SourceTable}

/**
 * What follows from the declarations of the options: `tests/golden/options.json`, against which the
 * Python package is checked, and the tables of `docs/reference/options.md`.
 */
class OptionsGoldenSuite extends AnyFunSuite {
  private val tables =
    Seq("connection" -> ConnectionTable.all, "source" -> SourceTable.all, "sink" -> SinkTable.all)

  private def checkFile(path: String)(expected: String => String): Unit = {
    val file = Repository.root.resolve(path)
    val now = new String(Files.readAllBytes(file), UTF_8)
    val wanted = expected(now)
    if (sys.env.contains("UPDATE_GOLDEN")) Files.write(file, wanted.getBytes(UTF_8))
    else
      assert(
        now === wanted,
        "UPDATE_GOLDEN=1 project/sbt \"connector/testOnly *OptionsGoldenSuite\" writes it again."
      )
  }

  test("the golden file has the declarations of all options") {
    checkFile("tests/golden/options.json")(_ => OptionReference.json(tables))
  }

  test("the reference page has the declarations of all options") {
    checkFile("docs/reference/options.md")(OptionReference.page(_, tables))
  }

  test("no name is declared twice") {
    Seq(SourceOptions.All, SinkOptions.All).foreach { side =>
      val names = side.map(option => OptionNames.normalized(option.name))
      assert(names.diff(names.distinct) === Nil)
    }
  }

  test("every option that another one needs is declared, with the value that it needs") {
    tables.flatMap(_._2).foreach { option =>
      option.needs.map(_.split("=")).foreach { need =>
        val other = (SourceOptions.All ++ SinkOptions.All).find(_.name == need.head)
        assert(other.exists(it => need.tail.forall(it.kind.words.contains)), option.name)
      }
    }
  }

  private def source(options: Map[String, String]) =
    SourceOptions.parse(options + ("streamName" -> "orders"), Some("eu-west-1"))

  /** For micro-batches: in real-time mode, `linger` has another default. */
  private def sink(options: Map[String, String]) = {
    val parsed = SinkOptions.parse(Options.parse(options, SinkOptions.All))
    parsed.copy(givenLinger = Some(parsed.linger))
  }

  /** The default of each option, and the options that it needs. */
  private def defaults(table: OptionTable): Seq[(Map[String, String], Map[String, String])] =
    table.all.flatMap { option =>
      val beside = option.needs.map(_.split("=")).collect { case Array(name, word) => name -> word }
      option.defaultText.map(text => (beside.toMap, Map(option.name -> text)))
    }

  test("setting an option to its default changes nothing") {
    val (ofSource, ofSink) = (defaults(SourceTable), defaults(SinkTable))
    assert(ofSource.nonEmpty && ofSink.nonEmpty)
    ofSource.foreach { case (beside, said) => assert(source(beside ++ said) === source(beside)) }
    ofSink.foreach { case (beside, said) => assert(sink(beside ++ said) === sink(beside)) }
  }

  test("the defaults are those of the settings that the options make") {
    assert(sink(Map.empty) === SinkOptions(givenLinger = Some(100.millis)))
    assert(ConnectionTable.CallTimeout.unset.contains("`10s`"))
  }

  private val pause = new DefaultedOption(
    "maxPause",
    duration(1.second, 1.minute).because("Longer pauses would be too long."),
    10.seconds,
    "Maximum time of a pause. See [Pauses](pauses.md).",
    needs = Seq("pauses=some"),
    since = "0.2.0"
  )
  private val pauses = new DefaultedOption("pauses", word("none", "some"), "none", "Which pauses.")

  test("an option that is added to a table is parsed, suggested, and part of all references") {
    val copy = SourceTable.all :+ pause :+ pauses
    def parsed(options: (String, String)*) = Options.parse(options.toMap, copy)
    def refused(options: (String, String)*) =
      intercept[OptionException](parsed(options: _*)(pause)).getMessage
    assert(parsed("maxPause" -> "30s", "pauses" -> "some")(pause) === 30.seconds)
    assert(parsed()(pause) === 10.seconds)
    assert(
      refused("maxPause" -> "2m", "pauses" -> "some") === "Option 'maxPause' is '2m': expected a " +
        "duration of at least 1s such as 10s, at most 1m. Longer pauses would be too long."
    )
    assert(
      refused("maxPause" -> "2s") === "Option 'maxPause' has no effect without 'pauses=some'. " +
        "Set both options, or remove this one."
    )
    assert(refused("maxPuase" -> "2s").contains("Did you mean 'maxPause'?"))
    assert(refused("other" -> "2s").contains("maxPartitions, maxPause, maxRecordsPerFetch"))
    assert(
      OptionReference
        .json(Seq("source" -> copy))
        .contains(
          """    {"name": "maxPause", "type": "duration", "default": "10s", "least": "1s", """ +
            """"most": "1m", "needs": ["pauses=some"], "since": "0.2.0"},"""
        )
    )
    val page =
      OptionReference.page("# Options\n\n## Source\n\n| gone |\n\nText.", Seq("source" -> copy))
    assert(page.startsWith("# Options\n\n## Source\n\n| Option | Value | Default | Description |"))
    assert(
      page.endsWith(
        "| `maxPause` | Duration, `1s` to `1m` | `10s` | Maximum time of a pause. See " +
          "[Pauses](pauses.md). |\n| `pauses` | `none` or `some` | `none` | Which pauses. " +
          "|\n\nText."
      )
    )
  }
}
