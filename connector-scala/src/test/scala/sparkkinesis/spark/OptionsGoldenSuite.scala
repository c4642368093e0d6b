package sparkkinesis.spark

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Repository
import sparkkinesis.client.options.{ConnectionOptions, Options}
import sparkkinesis.sink.SinkOptions
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.spark.write.KinesisWriteBuilder

/**
 * `tests/golden/options.json` has the options of the connector. The Python package is checked
 * against the same file.
 */
class OptionsGoldenSuite extends AnyFunSuite {
  private val golden: JsonNode =
    new ObjectMapper().readTree(Repository.root.resolve("tests/golden/options.json").toFile)

  private def names(group: String): Seq[String] =
    golden.get(group).asScala.map(_.get("name").textValue).toSeq

  /** The default of each option, and the options that it depends on. */
  private def defaults(group: String): Seq[(Map[String, String], Map[String, String])] =
    golden.get(group).asScala.toSeq.filter(_.has("default")).map { option =>
      val beside =
        option.path("beside").properties.asScala.map(it => it.getKey -> it.getValue.textValue)
      val default = Map(option.get("name").textValue -> option.get("default").textValue)
      (beside.toMap, default)
    }

  private def source(options: Map[String, String]) =
    SourceOptions.parse(options + ("streamName" -> "orders"), Some("eu-west-1"))

  /** For micro-batches: in real-time mode, `linger` has another default. */
  private def sink(options: Map[String, String]) = {
    val parsed = SinkOptions.parse(Options.parse(options, KinesisWriteBuilder.OptionNames))
    parsed.copy(givenLinger = Some(parsed.linger))
  }

  test("the golden file has exactly the names of all options") {
    assert(ConnectionOptions.Names.sorted === names("connection").sorted)
    assert(SourceOptions.Names.sorted === (names("connection") ++ names("source")).sorted)
    assert(KinesisWriteBuilder.OptionNames.sorted === (names("connection") ++ names("sink")).sorted)
  }

  test("setting an option to its default changes nothing") {
    val ofSource = defaults("source")
    val ofSink = defaults("sink")
    assert(ofSource.nonEmpty && ofSink.nonEmpty)
    ofSource.foreach { case (beside, said) => assert(source(beside ++ said) === source(beside)) }
    ofSink.foreach { case (beside, said) => assert(sink(beside ++ said) === sink(beside)) }
  }
}
