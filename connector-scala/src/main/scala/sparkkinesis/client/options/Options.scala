package sparkkinesis.client.options

import sparkkinesis.client.options.OptionException._
import sparkkinesis.client.options.OptionNames.normalized
import sparkkinesis.compat._

/** The options that a user set: their names are known and have no case. */
private[sparkkinesis] final class Options private (values: Map[String, String]) {

  def contains(option: OptionSpec[_]): Boolean = values.contains(normalized(option.name))

  /**
   * The value that is set.
   *
   * @throws OptionException if the value does not have the option's type
   */
  def get[A](option: OptionSpec[A]): Option[A] = values.get(normalized(option.name)).map { value =>
    if (value.isBlank) throw invalid(option, "a value", "To use the default, remove the option.")
    option.kind
      .parse(value.trim)
      .fold(
        remedy => throw invalid(option, option.kind.expected, remedy),
        identity
      )
  }

  /** The value that is set, or the default. */
  def apply[A](option: DefaultedOption[A]): A = get(option).getOrElse(option.default)

  /** @throws OptionException if the option is set without the other one */
  def requireBeside(option: OptionSpec[_], other: OptionSpec[_]): Unit =
    if (contains(option) && !contains(other))
      throw missing(
        s"Option '${option.name}' is set without '${other.name}'. Set '${other.name}', or remove " +
          "the option."
      )

  /**
   * The exception for an invalid value. Masks the value of a secret.
   *
   * @param expected follows "expected"
   * @param remedy a sentence that says what to do
   */
  def invalid(option: OptionSpec[_], expected: String, remedy: String): OptionException = {
    val value = values.getOrElse(normalized(option.name), "")
    val shown = if (option.kind.hides(value)) "***" else value
    new OptionException(
      InvalidOption,
      s"Option '${option.name}' is '$shown': expected $expected. $remedy"
    )
  }

  /** @throws OptionException if the option is set, and nothing of what it needs */
  private def requireNeeded(option: OptionSpec[_], known: Seq[OptionSpec[_]]): Unit =
    if (contains(option) && option.needs.nonEmpty && !option.needs.exists(isSet)) {
      // A misspelled word of the other option is what the user should read about.
      option.needs.flatMap(need => OptionSpec.find(need.takeWhile(_ != '='), known)).foreach(get(_))
      throw missing(
        s"Option '${option.name}' has no effect without '${option.needs.mkString("' or '")}'. " +
          "Set both options, or remove this one."
      )
    }

  /** @param need the name of an option, or a name and a value */
  private def isSet(need: String): Boolean = need.split("=") match {
    case Array(name, word) => values.get(normalized(name)).exists(_.trim.equalsIgnoreCase(word))
    case _ => values.contains(normalized(need))
  }

  /** Names only, because a value may be secret. */
  override def toString: String = values.keys.toSeq.sorted.mkString("Options(", ", ", ")")
}

private[sparkkinesis] object Options {

  /**
   * Reads the options that Spark passes.
   *
   * @param known our options that apply here. Spark's own options are ignored
   * @throws OptionException if a name is unknown (suggests the nearest), if two names mean the same
   *   option, or if an option has no effect without another one
   */
  def parse(map: Map[String, String], known: Seq[OptionSpec[_]]): Options = {
    val found = map.toSeq.sorted.filterNot { case (name, _) => OptionNames.isSparks(name) }.map {
      case (name, value) =>
        (OptionSpec.find(name, known).getOrElse(throw unknown(name, known)).name, name, value)
    }
    found.groupMap(_._1)(_._2).find(_._2.size > 1).foreach { case (ours, names) =>
      val all = names.mkString("'", "' and '", "'")
      throw conflicting(s"Options $all both mean '$ours'. Set only one of them.")
    }
    val options = new Options(found.map { case (ours, _, value) =>
      normalized(ours) -> value
    }.toMap)
    known.foreach(options.requireNeeded(_, known))
    options
  }

  private def unknown(name: String, known: Seq[OptionSpec[_]]): OptionException = {
    val names = known.map(_.name)
    val hint = ForeignOptions.hint(name, names).getOrElse {
      val meant = OptionNames.nearest(name, names).fold("")(near => s"Did you mean '$near'? ")
      s"${meant}The options are: ${names.sorted.mkString(", ")}."
    }
    new OptionException(UnknownOption, s"There is no option '$name'. $hint")
  }
}
