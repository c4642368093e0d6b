package sparkkinesis.client.options

import sparkkinesis.client.options.OptionException._
import sparkkinesis.client.options.OptionNames.{normalized, withoutPrefix}
import sparkkinesis.compat._

/**
 * An option that the user set.
 *
 * @param name the name as the user wrote it
 * @param written the value as the user wrote it
 * @param value the value in our form
 */
private[client] final case class OptionValue(name: String, written: String, value: String) {

  /** The option's name for messages: the user's name in quotes, with ours if they differ. */
  def named(ours: String): String =
    if (normalized(name) == normalized(ours)) s"'$ours'" else s"'$name' ('$ours' here)"
}

/** Finds our option for each name that a user wrote, including those of [[ForeignOptions]]. */
private[client] object OptionParser {
  private val foreign: Map[String, ForeignOption] =
    (for (option <- ForeignOptions.All; name <- option.names)
      yield normalized(name) -> option).toMap

  /**
   * The options by our names, in lower case. Ignores Spark's own options.
   *
   * @throws OptionException if a name is unknown, or if two names mean the same option
   */
  def read(map: Map[String, String], known: Seq[String]): Map[String, OptionValue] = {
    val options = map.toSeq.sorted.filterNot { case (name, _) => OptionNames.isSparks(name) }.map {
      case (name, written) =>
        val (ours, values) = resolve(name, known).getOrElse(throw unknown(name, known))
        ours -> OptionValue(name, written, values.translate(written.trim))
    }
    options.groupMap(_._1)(_._2.name).find(_._2.size > 1).foreach { case (ours, names) =>
      val all = names.mkString("'", "' and '", "'")
      throw conflicting(s"Options $all both mean '$ours'. Set only one of them.")
    }
    options.map { case (ours, value) => normalized(ours) -> value }.toMap
  }

  /** The known option that a name means, and how its values differ. */
  def resolve(name: String, known: Seq[String]): Option[(String, ForeignValues)] = {
    val bare = withoutPrefix(name)
    known.find(normalized(_) == bare).map(_ -> ForeignValues.Unchanged).orElse {
      for (option <- foreign.get(bare); ours <- option.counterpart if known.contains(ours))
        yield ours -> option.values
    }
  }

  private def unknown(name: String, known: Seq[String]): OptionException = {
    val hint = foreign.get(withoutPrefix(name)).flatMap(_.remedyFor(known)).getOrElse {
      val meant = OptionNames.nearest(name, known).fold("")(near => s"Did you mean '$near'? ")
      s"${meant}The options are: ${known.sorted.mkString(", ")}."
    }
    new OptionException(UnknownOption, s"There is no option '$name'. $hint")
  }

  /**
   * A position in our form. Other connectors write an instant as `AT_TIMESTAMP <instant>` (awslabs)
   * or `{"at_timestamp": "<instant>"}` (Databricks). Any other text stays unchanged.
   *
   * @return `Left` with the remedy if the instant is ambiguous
   */
  def position(text: String): Either[String, String] = text.trim match {
    case AtTimestamp(instant) => Right(instant)
    case AtTimestampJson(instant) => Right(instant)
    case AnyTimestampJson() => Left("Write the instant with its time zone and without a format.")
    case json if json.startsWith("{") && json.contains("\"iteratorType\"") =>
      Left("The connector cannot read a position from the checkpoint of another connector.")
    case other => Right(other)
  }

  private val AtTimestamp = "(?is)at_timestamp\\s+(\\S.*)".r
  private val AtTimestampJson = """(?s)\{\s*"at_timestamp"\s*:\s*"([^"\\]*)"\s*\}""".r
  private val AnyTimestampJson = """(?s)\{\s*"(?:at_timestamp|format)"\s*:.*""".r
}
