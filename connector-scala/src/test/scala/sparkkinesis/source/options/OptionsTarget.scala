package sparkkinesis.source.options

import java.nio.charset.StandardCharsets.UTF_8

import org.scalacheck.Gen

import sparkkinesis.FuzzTargets.utf8
import sparkkinesis.client.options.{OptionException, Options}
import sparkkinesis.sink.SinkOptions
import sparkkinesis.{FuzzTarget, Generators}

/**
 * Options of source and sink are accepted or refused. Each line is an option: the first character
 * chooses its name, and the rest is its value.
 */
object OptionsTarget extends FuzzTarget {
  private val names = (SourceOptions.All ++ SinkOptions.All).map(_.name).distinct
  private val values = Seq("1", "10s", "5m", "1g", "true", "false", "latest", "trim_horizon") ++
    Seq("orders,refunds", s"${Generators.arn}", "2026-01-01T00:00:00Z", "kpl", "perKey", "1-7") ++
    Seq("""{"orders":"latest"}""", """{"orders":{"shardId-000000000000":"after:7"}}""")

  override val examples: Gen[Array[Byte]] = for {
    count <- Gen.choose(1, 5)
    line = Gen.zip(Gen.choose(32, 32 + names.size - 1), Gen.oneOf(values))
    lines <- Gen.listOfN(count, line)
  } yield utf8(lines.map { case (name, value) => s"${name.toChar}$value" }.mkString("\n"))

  override def fuzzerTestOneInput(bytes: Array[Byte]): Unit = {
    val lines = new String(bytes, UTF_8).split("\n").filter(_.nonEmpty)
    val chosen = lines.map(line => names((line.head + names.size - 32) % names.size) -> line.tail)
    val options = Map("streamName" -> "orders") ++ chosen
    accepted(SourceOptions.parse(options, Some("us-east-1")))
    accepted(SinkOptions.parse(Options.parse(options, SinkOptions.All)))
  }

  private def accepted(parse: => Any): Unit =
    try parse: Unit
    catch { case _: OptionException => () }
}
