package sparkkinesis.spark

import java.util.regex.Matcher

import sparkkinesis.client.options.OptionSpec

/** The declarations of options as other programs and people read them. */
object OptionReference {

  /** The text of `tests/golden/options.json`, which the Python package is checked against. */
  def json(tables: Seq[(String, Seq[OptionSpec[_]])]): String = tables
    .map { case (group, options) =>
      options.map(json).mkString(s"""  "$group": [\n""", ",\n", "\n  ]")
    }
    .mkString("{\n", ",\n", "\n}\n")

  private def json(option: OptionSpec[_]): String = {
    def one(key: String, value: Option[String]) = value.map(it => s""""$key": "$it"""").toSeq
    def several(key: String, values: Seq[String]) =
      Option.when(values.nonEmpty)(values.mkString(s""""$key": ["""", """", """", """"]""")).toSeq
    val kind = option.kind
    val members = one("name", Some(option.name)) ++ one("type", Some(kind.name)) ++
      one("default", option.defaultText) ++ one("least", kind.least) ++ one("most", kind.most) ++
      several("words", kind.words) ++ several("needs", option.needs) ++
      Option.when(option.isSecret)(""""secret": true""") ++ one("since", Some(option.since))
    members.mkString("    {", ", ", "}")
  }

  /** A page with the first table below each heading made from the declarations. */
  def page(text: String, tables: Seq[(String, Seq[OptionSpec[_]])]): String =
    tables.foldLeft(text) { case (page, (group, options)) =>
      val beforeTable = s"\n## ${group.capitalize}\n(?:(?!\\|)[^\n]*\n)*"
      val firstTable = s"($beforeTable)(?:\\|[^\n]*\n)+".r
      firstTable.replaceFirstIn(page, s"$$1${Matcher.quoteReplacement(table(options))}")
    }

  private def table(options: Seq[OptionSpec[_]]): String =
    ("| Option | Value | Default | Description |" +: "|---|---|---|---|" +: options.map { option =>
      s"| `${option.name}` | ${value(option)} | ${option.unset} | ${option.text} |"
    }).mkString("", "\n", "\n")

  private def value(option: OptionSpec[_]): String = {
    val kind = option.kind
    val title = kind.name match {
      case "word" | "boolean" => ""
      case "texts" => "Text, or several separated by commas"
      case "url" => "URL"
      case other => other.capitalize
    }
    val bounds = (kind.least, kind.most) match {
      case (Some(least), Some(most)) => s", `$least` to `$most`"
      case (least, most) =>
        least.map(it => s", at least `$it`").mkString + most.map(it => s", at most `$it`").mkString
    }
    val words = if (kind.name == "boolean") Seq("true", "false") else kind.words
    val comma = if (bounds.nonEmpty && words.nonEmpty) "," else ""
    (Seq(title + bounds + comma).filter(_.nonEmpty) ++ words.map(it => s"`$it`")).mkString(" or ")
  }
}
