package sparkkinesis.bench.report

import java.math.MathContext
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.node.ObjectNode
import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper, SerializationFeature}

/** Writes results as JSON, and as rows of a Markdown table. */
object Report {
  private val mapper = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT)

  /** The head of the table. */
  val TableHead: Seq[String] =
    Seq("| | value | spread | baseline | ratio | goal | met |", "|---|--:|--:|--:|--:|---|---|")
  private val Digits = new MathContext(4)

  /**
   * Writes the results into a file. They replace earlier results of the same scenarios.
   *
   * @param scenarios all scenarios, in order
   * @return all results in the file
   */
  def merge(file: Path, results: Seq[Result], scenarios: Seq[String]): Seq[JsonNode] = {
    val before =
      if (Files.exists(file)) mapper.readTree(file.toFile).elements.asScala.toSeq else Nil
    val measured = results.map(_.name.takeWhile(_ != ':'))
    val kept =
      before.filter(row => scenarios.diff(measured).contains(scenarioOf(row)))
    val all: Seq[JsonNode] = kept ++ results.map(json)
    val sorted = all.sortBy(row => scenarios.indexOf(scenarioOf(row)))
    Files.createDirectories(file.toAbsolutePath.getParent)
    mapper.writeValue(file.toFile, mapper.createArrayNode().addAll(sorted.asJava))
    sorted
  }

  private def scenarioOf(row: JsonNode): String = row.get("name").asText.takeWhile(_ != ':')

  private def json(result: Result): ObjectNode = {
    val row = mapper.createObjectNode()
    row.put("name", result.name)
    number(row, "value", result.value)
    row.put("unit", result.unit)
    number(row, "baseline", result.baseline)
    number(row, "ratio", result.ratio)
    row.put("goal", result.goal.map(_.text).orNull)
    result.isMet.fold(row.putNull("met"))(row.put("met", _))
    spread(row, "spread", result.value)
    spread(row, "baselineSpread", result.baseline)
    spread(row, "ratioSpread", result.ratio)
    row.put("note", result.note.orNull)
  }

  private def number(row: ObjectNode, name: String, figure: Option[Figure]): Unit = {
    figure.fold(row.putNull(name))(it => row.put(name, rounded(it.value)))
    ()
  }

  private def spread(row: ObjectNode, name: String, figure: Option[Figure]): Unit = {
    figure.flatMap(_.spread).fold(row.putNull(name)) { case (least, greatest) =>
      row.putArray(name).add(rounded(least)).add(rounded(greatest))
      row
    }
    ()
  }

  private def rounded(value: Double): Double = BigDecimal(value).round(Digits).toDouble

  /** A Markdown table. */
  def table(rows: Seq[JsonNode]): Seq[String] = TableHead ++ rows.map(line)

  /** The rows of the table without its head. */
  def rows(results: Seq[Result]): Seq[String] = results.map(result => line(json(result)))

  private def line(row: JsonNode): String = {
    def text(name: String) = Option(row.get(name)).filterNot(_.isNull).map(plain)
    def withSpread(name: String) = text(name).map { figure =>
      figure + text(s"${name}Spread").fold("")(spread => s" ($spread)")
    }
    val value = text("value").map(v => s"$v ${row.get("unit").asText}").orElse(text("note"))
    val met = text("met").map(is => if (is == "true") "yes" else "**no**")
    val cells = Seq(
      text("name"),
      value,
      text("spread"),
      withSpread("baseline"),
      withSpread("ratio"),
      text("goal"),
      met
    )
    cells.map(_.getOrElse("")).mkString("| ", " | ", " |")
  }

  private def plain(node: JsonNode): String =
    if (node.isArray) node.elements.asScala.map(plain).mkString(" - ")
    else if (node.isNumber) node.decimalValue.stripTrailingZeros.toPlainString
    else node.asText.replace("|", "/").replaceAll("\\s+", " ")
}
