package sparkkinesis.bench.report

import java.nio.file.{Files, Path}

/**
 * Writes results into a document, between two comments: a line per scenario that says where it was
 * measured, and the table. The text around it stays unchanged.
 */
object Document {
  val Begin = "<!-- results: written by make bench -->"
  val End = "<!-- end of results -->"

  /**
   * Lines of scenarios that were not measured now stay unchanged.
   *
   * @param setting where the results were measured
   * @param scenarios all scenarios, in order
   * @throws IllegalStateException if the document has no place for results
   */
  def write(
      document: Path,
      setting: String,
      measured: Seq[Result],
      scenarios: Seq[String]
  ): Unit = {
    val text = Files.readString(document)
    val (begin, end) = (text.indexOf(Begin) + Begin.length, text.indexOf(End))
    if (begin < Begin.length || end < begin)
      throw new IllegalStateException(s"$document lacks the lines $Begin and $End.")
    val before = text.slice(begin, end).linesIterator.toSeq
    val settings = scenarios.flatMap { name =>
      if (rowsOf(name, measured).nonEmpty) Seq(s"${settingStart(name)}$setting")
      else before.filter(_.startsWith(settingStart(name)))
    }
    val rows = scenarios.flatMap { name =>
      val now = Report.rows(rowsOf(name, measured))
      if (now.nonEmpty) now else before.filter(_.startsWith(s"| $name:"))
    }
    val lines = settings ++ Seq("") ++ Report.TableHead ++ rows
    Files.writeString(
      document,
      text.take(begin) + lines.mkString("\n", "\n", "\n") + text.drop(end)
    )
    ()
  }

  private def settingStart(scenario: String) = s"- $scenario: "

  private def rowsOf(scenario: String, results: Seq[Result]) =
    results.filter(_.name.startsWith(s"$scenario:"))
}
