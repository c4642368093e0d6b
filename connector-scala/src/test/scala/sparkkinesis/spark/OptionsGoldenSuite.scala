package sparkkinesis.spark

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Repository
import sparkkinesis.client.{ConnectionOptions, Options}
import sparkkinesis.sink.SinkOptions
import sparkkinesis.source.SourceOptions

/** `tests/golden/options.json` is what the connector takes; the Python package is held to it too. */
class OptionsGoldenSuite extends AnyFunSuite {
  private val golden: JsonNode =
    new ObjectMapper().readTree(Repository.root.resolve("tests/golden/options.json").toFile)

  private def names(group: String): Seq[String] =
    golden.get(group).asScala.map(_.get("name").textValue).toSeq

  private def defaults(group: String): Map[String, String] = golden
    .get(group)
    .asScala
    .filter(_.has("default"))
    .map(option => option.get("name").textValue -> option.get("default").textValue)
    .toMap

  private def source(options: Map[String, String]) =
    SourceOptions.parse(options + ("streamName" -> "orders"), Some("eu-west-1"))

  private def sink(options: Map[String, String]) =
    SinkOptions.parse(Options.parse(options, KinesisWriteBuilder.OptionNames))

  test("the names, all of them and no other") {
    assert(ConnectionOptions.Names.sorted === names("connection").sorted)
    assert(SourceOptions.Names.sorted === (names("connection") ++ names("source")).sorted)
    assert(KinesisWriteBuilder.OptionNames.sorted === (names("connection") ++ names("sink")).sorted)
  }

  test("a default, said, is as if nothing were said") {
    assert(source(defaults("source")) === source(Map.empty))
    assert(sink(defaults("sink")) === sink(Map.empty))
  }
}
